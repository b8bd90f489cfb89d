#!/usr/bin/env python3
"""Galvatron's own search against plumbline on its test's profile: galvatron.py CHECKOUT [MEMORY_GB
MICRO_BATCHES SEQUENCE ...], each three numbers a setting (default: the test's, 36 32 8192).
CHECKOUT: PKU-DAIR/Hetu-Galvatron with its dp core built (its Makefile), its tests beside it;
python: one with its requirements. Its cost functions give the time and bytes of a layer for each
tensor degree, with ZeRO 2 or 3, recomputed or not, and of both ends of the model, by tensor or
sequence ranks (vsp), sharded or not (embed_sdp). Those are measured layers here, one problem for
each number of stages (1 or 2), tensor degree, and degree, kind and sharding of the ends; every one
is solved, certified and checked. Printed: the best of ours by 1F1B and by Galvatron's own cost
model, theirs, and processor seconds. Not in ours: unlike degrees within a stage or in two stages,
layers by sequence ranks.
BIN: plumbline; ONLY=ours or ONLY=theirs: one of the two."""
import contextlib, io, itertools, json, math, os, pathlib, resource, subprocess, sys, tempfile, time

CHECKOUT = os.path.abspath(sys.argv[1])
sys.path.insert(0, CHECKOUT)
from tests.utils.search_configs import initialize_search_engine  # first: its imports go in a circle
from galvatron.core.cost_model.components.embedding_lmhead_cost import (
    EmbeddingLMHeadMemoryCostModel, EmbeddingLMHeadTimeCostModel)
from galvatron.core.cost_model.components.layer_cost import MemoryCostModelBase, TimeCostModelBase
from galvatron.core.cost_model.cost_model_handler import pipeline_costmodel
from galvatron.utils.strategy_utils import DPType, EmbeddingLMHeadStrategy, LayerStrategy

BIN, GPUS, BATCH, LAYERS, MIB = os.environ.get('BIN', 'bin/plumbline'), 8, 64, 28, 1 << 20
ROUNDED = LAYERS  # MiB: of each layer it counts whole ones
ARGUMENTS = 'model_args', 'train_args', 'parallel_args', 'profile_model_args'


def engine(memory, chunks, sequence, folder):
    """Its search, with the settings of its test."""
    with contextlib.redirect_stdout(io.StringIO()):
        return initialize_search_engine(
            tuple(pathlib.Path(folder) / name for name in 'cho'), folder + '/log', 'llama_search',
            'sequence', 'sequence', True, [sequence], settle_bsz=BATCH, settle_chunk=chunks,
            memory_constraint=memory, default_dp_type='zero2', pipeline_type='pipedream_flush',
            async_grad_reduce=False, sequence_parallel=True, fine_grained_mode=1,
            num_layers=LAYERS)


class Setting:
    def __init__(self, memory, chunks, sequence, folder):
        self.engine = engine(memory, chunks, sequence, folder)
        self.chunks, self.folder = chunks, folder
        self.sequence, self.mib = sequence, memory * 1024
        if memory > 20:  # its search keeps some back
            self.mib -= int(self.mib * 0.2)

    def common(self):
        e = self.engine
        return dict(global_batch_size=BATCH, chunks=self.chunks,
                    **{name: getattr(e, name + '_list')[0] for name in ARGUMENTS})

    def layer(self, stages, tensor, sharded, recomputed, stage=-1):
        """Seconds of a micro-batch; MiB of states, of activations, and of both in its own words."""
        data = GPUS // stages // tensor
        strategy = LayerStrategy(pp_size=stages, tp_size=tensor, dp_size=data,
                                 dp_type=kind_of(data, sharded), checkpoint=recomputed)
        seconds = TimeCostModelBase(
            strategy=strategy, profile_hardware_args=self.engine.profile_hardware_args_list[0],
            **self.common()).gen_result()[1]
        held = MemoryCostModelBase(strategy=strategy, stage_idx=stage % stages,
                                   **self.common()).get_memory_cost()
        return float(seconds), held['model_states'], held['activation'], held['enc_total']

    def ends(self, stages, degree, kind, sharded):
        """Seconds and MiB of the first stage's end and of the last one's; of one, both together."""
        data = GPUS // stages // degree
        strategy = EmbeddingLMHeadStrategy(
            pp_size=stages, **{kind + '_size': degree}, dp_size=data,
            dp_type=kind_of(data * (degree if kind == 'sp' else 1), sharded))
        times = EmbeddingLMHeadTimeCostModel(
            strategy=strategy, sequence_length_list=self.engine.seqlen_list,
            profile_hardware_args=self.engine.profile_hardware_args_list[0],
            **self.common()).gen_result()[1]
        held = EmbeddingLMHeadMemoryCostModel(strategy=strategy, **self.common())
        return times, [math.ceil(mib) for mib in held.get_memory_cost()['enc_total']]

    def buffer(self, stages, degree):
        """The buffer of gathered activations, of the higher degree."""
        hidden = self.engine.args.model_info.hidden_size
        return int(BATCH / self.chunks / (GPUS // stages // degree) * hidden * self.sequence * 4 /
                   MIB / 2)

    def judged(self, stages, tensor, ends, plan):
        """A plan by its own cost model: seconds, and MiB of each stage."""
        data = GPUS // stages // tensor
        chosen = [(stage, i < x.get('sharded_layers', 0), i < x['recomputed_layers'])
                  for stage, x in enumerate(plan) for i in range(blocks_of(x))]
        layers = [LayerStrategy(pp_size=stages, tp_size=tensor, dp_size=data, checkpoint=again,
                                dp_type=kind_of(data, sharded)) for _, sharded, again in chosen]
        e, own = self.engine, self.ends(stages, *ends)
        seconds = pipeline_costmodel(
            layer_num_list=e.layernum_list, strategy_list=layers, pp_size=stages, gbsz=BATCH,
            partition=[blocks_of(x) for x in plan], chunks=self.chunks,
            other_time_cost=own[0], profile_hardware_args_list=e.profile_hardware_args_list,
            **{name + '_list': getattr(e, name + '_list') for name in ARGUMENTS})
        held = [own[1][stage] + self.buffer(stages, max(tensor, ends[0]))
                for stage in range(stages)]
        for stage, sharded, again in chosen:
            held[stage] += math.ceil(self.layer(stages, tensor, sharded, again, stage)[3])
        return seconds, held


def kind_of(data, sharded):
    return DPType.ZERO3 if sharded and data > 1 else DPType.ZERO2 if data > 1 else DPType.DDP


def blocks_of(stage):
    """Of a stage of ours, which holds one end, or both as one layer."""
    return stage['layer_count'] - 1


def documents(s, stages, tensor, ends):
    """The problem of these degrees: its path."""
    data = GPUS // stages // tensor
    shards = (0, 1) if data > 1 else (0,)
    layer = {(z, c): s.layer(stages, tensor, z, c) for z in shards for c in (0, 1)}
    end_seconds, end_mib = s.ends(stages, *ends)
    buffer, whole = s.buffer(stages, max(tensor, ends[0])), stages == 1

    def up(mib):  # its search counts whole MiB of a stage
        return (math.ceil(mib) if whole else mib) * MIB

    def held(states, kept, full):
        return {'weight_bytes': 0, 'gradient_bytes': 0, 'optimizer_bytes': math.ceil(states),
                'stash_bytes': {'none': math.ceil(kept), 'full': math.ceil(full)},
                'boundary_bytes': 0}

    def of_block(z):  # with one stage all is held once
        kept, full = layer[z, 0], layer[z, 1]
        return held(0, up(kept[3]), up(full[3])) if whole else held(
            up(kept[1]), up(kept[2]), up(full[2]))

    def times(run, seconds, **more):
        return {'run': run, 'gpu': 'g', 'forward_s': float(seconds) / 3,
                'backward_s': float(seconds) * 2 / 3, **more}

    def end(name, i):
        return {'name': name, 'kind': 'measured',
                'measured': held((end_mib[i] + buffer) * MIB, 0, 0)}

    names = ['first', 'last'][:stages]
    block = of_block(0)
    if len(shards) > 1:
        block['by_degrees'] = [{'zero': 3, **of_block(1)}]
    runs = [end(name, i) for i, name in enumerate(names)]
    runs.insert(1, {'name': 'block', 'kind': 'measured', 'count': LAYERS, 'recomputable': True,
                    'measured': block})
    own = [times('block', layer[z, 0][0], full_s=layer[z, 1][0] - layer[z, 0][0],
                 **({'zero': 3} if z else {})) for z in reversed(shards)]
    room = s.mib - (0 if whole else ROUNDED)
    said = {
        'model': {'runs': runs},
        'cluster': {'groups': [
            {'name': 'node', 'gpu': 'g', 'nodes': 1, 'gpus_per_node': GPUS,
             'memory_bytes': room * MIB, 'intra': {'bytes_per_s': 1e12, 'latency_s': 0}}]},
        'costs': {'gpus': [
            {'gpu': 'g', 'memory_bytes_per_s': {'value': 1e12, 'origin': 'assumed'},
             'constant_bytes': {'value': 0, 'origin': 'assumed'}, 'precisions': []}],
            'layer_times': own + [times(name, end_seconds[i]) for i, name in enumerate(names)]},
        'job': {'sequence': s.sequence, 'global_batch': BATCH, 'precision': 'bf16',
                'memory_fraction': 1, 'recompute': ['first_layers'],
                **({'sharded_zero': 3} if len(shards) > 1 else {}),
                'layout': {'tensor': tensor, 'pipeline': stages, 'data': data, 'zero': 2,
                           'micro_batch': BATCH // s.chunks // data}}}
    name = 'p%dt%d-%s%d%s' % (stages, tensor, ends[1], ends[0], 's' if ends[2] else '')
    for kind, value in said.items():
        value = {'kind': 'plumbline.' + kind, 'version': 1, 'name': name, **value}
        with open('%s/%s.%s.json' % (s.folder, name, kind), 'w') as file:
            json.dump(value, file)
    path = '%s/%s' % (s.folder, name)
    with open(path + '.json', 'w') as file:
        json.dump({'kind': 'plumbline.problem', 'version': 1,
                   **{kind: '%s.%s.json' % (name, kind) for kind in said}}, file)
    return path


def run(expected, *words):
    code = subprocess.run([BIN, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if code.returncode not in expected:
        sys.exit('%s: %d\n%s' % (' '.join(words), code.returncode, code.stderr.decode()))
    return code.returncode


def spent():
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime


def ways(s):
    """Stages, tensor degree, and the ends' degree, kind and sharding; each once."""
    each = BATCH // s.chunks
    for stages in (1, 2):
        gpus = GPUS // stages
        degrees = [t for t in (1, 2, 4, 8) if t <= gpus and each * t >= gpus]
        for tensor, degree, kind, sharded in itertools.product(degrees, degrees, ('tp', 'sp'),
                                                               (False, True)):
            if (degree > 1 or kind == 'tp') and not (sharded and kind == 'tp' and degree == gpus):
                yield stages, tensor, (degree, kind, sharded)


def ours(s):
    begun, best, count = spent(), None, 0
    for way in ways(s):
        path, count = documents(s, *way), count + 1
        found = run((0, 11), 'solve', path + '.json', '-o', path + '.plan.json', '--quiet',
                    '--certificate', path + '.proof.json')
        run((0,), 'check', path + '.proof.json', path + '.json')
        with open(path + '.plan.json') as file:
            plan = json.load(file)
        if not found and (not best or plan['iteration_ns'] < best[0]):
            best = plan['iteration_ns'], plan['bound_ns'], way, plan['stages']
    how = '%d problems solved, certified and checked in %.2f s of processor time' % (
        count, spent() - begun)
    if not best:
        return 'ours    no plan; ' + how
    stages, tensor, ends = best[2]
    by_its_model, held = s.judged(stages, tensor, ends, best[3])
    assert max(held) <= s.mib
    chosen = ', '.join('%d recomputed and %d sharded' % (
        x['recomputed_layers'], x.get('sharded_layers', 0)) for x in best[3])
    return 'ours    %.6f s (bound %.6f), %.6f s by its model: tensor %d, ends %s %d%s; %s; %s' % (
        best[0] / 1e9, best[1] / 1e9, by_its_model, tensor, ends[1], ends[0],
        ' sharded' if ends[2] else '', chosen, how)


def theirs(s):
    begun, lines = time.process_time(), io.StringIO()
    with contextlib.redirect_stdout(lines):
        throughput = s.engine.parallelism_optimization()
    seconds = time.process_time() - begun
    if throughput <= 0:
        return 'theirs  no plan, %.2f s of processor time' % seconds
    with open(next(pathlib.Path(s.folder).glob('o/*.json'))) as file:
        plan = json.load(file)
    return 'theirs  %.6f s: %s; %.2f s of processor time' % (
        BATCH / throughput, ', '.join('%s %s' % (key, plan[key]) for key in (
            'pp_deg', 'tp_sizes_enc', 'dp_types_enc', 'checkpoint', 'vtp', 'vsp',
            'embed_sdp')), seconds)


if __name__ == '__main__':
    numbers = [int(word) for word in sys.argv[2:]] or [36, 32, 8192]
    for memory, chunks, sequence in zip(*[iter(numbers)] * 3):
        with tempfile.TemporaryDirectory() as folder:
            setting = Setting(memory, chunks, sequence, folder)
            print('%d GB, %d micro-batches, sequence %d' % (memory, chunks, sequence), flush=True)
            for side in (ours, theirs):
                if os.environ.get('ONLY', side.__name__) == side.__name__:
                    print(' ', side(setting), flush=True)
