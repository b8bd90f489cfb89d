"""usage: titan_python.py FOLDER READ: FOLDER/torchtitan_plan.py says what FOLDER/titan.toml says,
but for what is another's in torchtitan 0.3.

Its calls are read as Python reads them; with READ 1, where torchtitan 0.3 is at hand, its
ConfigManager makes the configuration of the function."""
import ast
import importlib.metadata
import json
import sys
import tomllib

folder, asked = sys.argv[1], sys.argv[2] == "1"
text, toml = open(f"{folder}/torchtitan_plan.py").read(), tomllib.load(
    open(f"{folder}/titan.toml", "rb")
)
shape = json.load(open(f"{folder}/model.json"))["shape"]
tree = ast.parse(text)
function = next(n for n in tree.body if isinstance(n, ast.FunctionDef))
assert function.name == "plan"


# ---- as it stands there
training, calls = {}, {}
branch = next(line for line in function.body if isinstance(line, ast.If))
later = {ast.unparse(line.targets[0]): ast.unparse(line.value) for line in branch.orelse}
for line in function.body + branch.body:
    if isinstance(line, ast.Assign):
        target = ast.unparse(line.targets[0])
        if target.startswith("config.training."):
            training[target.rsplit(".", 1)[1]] = ast.literal_eval(line.value)
        elif isinstance(line.value, ast.Call):
            calls[target] = {k.arg: ast.unparse(k.value) for k in line.value.keywords}
            calls[target]["()"] = ast.unparse(line.value.func)
sequence, layout = training["seq_len"], json.load(open(f"{folder}/plan.json"))["layout"]
micro, steps = layout.get("micro_batch", 1), json.load(open(f"{folder}/plan.json"))["micro_batches"]
assert later["config.training.max_context_length"] == str(sequence)
assert eval(later["config.training.num_tokens_per_microbatch_per_dp_rank"]) == micro * sequence
assert (
    eval(later["config.training.num_tokens_per_train_step"])
    == training["global_batch_size"] * sequence
    == micro * steps * layout.get("data", 1) * sequence
)
parallelism = {k: ast.literal_eval(v) for k, v in calls["config.parallelism"].items() if k != "()"}
if layout["pipeline"] > 1:
    assert int(later["config.parallelism.num_pp_microbatches"]) == steps
    parallelism["pipeline_parallel_microbatch_size"] = next(
        ast.literal_eval(s.value)
        for s in branch.body
        if ast.unparse(s.targets[0]).endswith("pipeline_parallel_microbatch_size")
    )
for key, value in toml["training"].items():
    assert training[key] == value, (key, training.get(key), value)
assert training["disable_cuda_graphs"]
gone = {
    "disable_loss_parallel",
    "expert_tensor_parallel_degree",
    "enable_async_tensor_parallel",  # 0.3: of compile
}
for key, value in toml["parallelism"].items():
    if key == "module_fqns_per_model_part":
        value = [["lm_head" if m == "output" else m for m in part] for part in value]
    assert key in gone or parallelism[key] == value, (key, parallelism.get(key), value)
assert set(parallelism) - set(toml["parallelism"]) == {"enable_sequence_parallel"}
compiled = calls["config.compile"]
assert (
    compiled["enable"] == str(toml["compile"]["enable"])
    and ast.literal_eval(compiled["components"]) == toml["compile"]["components"]
    and ast.literal_eval(compiled.get("enable_async_tensor_parallel", "False"))
    == toml["parallelism"]["enable_async_tensor_parallel"]
)
policy = {
    "none": "config.activation_checkpoint = None",
    "full": "= FullAC.Config()",
    "selective": "= SelectiveAC.Config()",
}
assert policy[toml["activation_checkpoint"]["mode"]] in text
assert "# Not expressed by this configuration:" in text

# ---- as torchtitan reads it
try:
    if (
        not asked
        or importlib.metadata.version("torchtitan").split(".")[:2] < ["0", "3"]
        or "a package of your own" in text
    ):
        sys.exit()
    from torchtitan.config.manager import ConfigManager
    from torchtitan.models.common import RoPE
except ImportError:
    sys.exit()
sys.path.insert(0, folder)
read = ConfigManager().parse_args(["--module", "torchtitan_plan", "--config", "plan"])
for section, keys in ("training", training), ("parallelism", parallelism):
    for key, value in keys.items():
        assert getattr(getattr(read, section), key) == value, (section, key)
assert type(read.loss).__qualname__.split(".")[0] in ("CrossEntropyLoss", "MTPLoss")
ropes = [r for _, r, _, _ in read.model_spec.model.traverse(RoPE.Config)]
scaling = shape.get("rotary_scaling", {})
assert ropes and all(r.theta == shape["rotary_base"] for r in ropes)
if scaling.get("type") == "llama3":
    assert all(
        (r.scaling, r.scaling_factor, r.high_freq_factor)
        == ("llama", shape["rotary_factor"], scaling["high_freq_factor"])
        for r in ropes
    )
if scaling.get("type") == "yarn":
    assert all(
        (r.scaling, r.rope_factor, r.beta_fast)
        == ("yarn", shape["rotary_factor"], scaling["beta_fast"])
        for r in ropes
    )
print(len(read.model_spec.model.layers), "layers", len(ropes), "of rotary positions")
