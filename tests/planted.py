#!/usr/bin/env python3
"""Whether the tests find errors of thought that are known: planted.py [NAME ...], with
build/release/tests/test_claims built. Each is planted in a copy of the sources; the test that it
names must fail at one of its own questions, and test_claims tell of claims above the truth. Without
a plant it must tell of none. With names: these plants alone. --apply: only whether each still finds
its place; all that do not.
TEST_JOBS: so many runs at a time. PLANTED_PROBLEMS=500: problems of each for test_claims."""
import collections, concurrent.futures, os, re, shutil, subprocess, sys, tempfile, time

# [TEST] what its plants are about. Then two lines a plant: NAME: what is then thought, and FILE
# FUNCTION: the change of its body. X -> Y; zero X, never X, always X: 0 or 1 for it; drop X: gone.
# $1 stands for an argument, whatever it is, #2 behind a change for the second place of several.
PLANTS = r"""
[test_claims] the planner's bounds of a layout from its prices
filling-last-send: a sync waits for what the last pass sends
    layouts/bound.c last_send_ns: zero s->block_backward_ns
filling-own-message: the message that fills the rank counts on top of its load
    layouts/bound.c ends_of: zero s->block_forward_ns
filling-without-barrier: a rank without a barrier waits for the pipeline to fill
    layouts/bound.c streaming_ns: always s->barrier
filling-whole-sync: a sync beside the gradients takes its whole time
    layouts/bound.c ending_of: !s->overlapped -> s->turns
filling-steps-in-series: of several stages none steps while another syncs
    layouts/bound.c after_passes_ns: s->turns > 1 -> s->turns < 1
filling-gradients-of-local: gradients go over local boundaries, too
    layouts/bound.c bare_load_ns: drop s->local ? 0 :
filling-layers-before: on any group, each rank before one holds a main layer
    layouts/fill.c main_within: g, i, 0, -> g, i, i,
filling-one-other-more: ranks must have room for one other layer more than there are
    layouts/fill.c counts_within: >= s->others -> > s->others
filling-others-rest: others that are recomputed keep as much as before
    layouts/room.c mixed_bytes: full.other * full_bytes -> full.other * kept_bytes
filling-lost-slices: a rank does all slices between the first that crosses it and the last
    layouts/crossing.c layer_ns: drop - lost
filling-kept: every stage of a rank keeps as many as the one that keeps the most
    layouts/kept.c sum_up: sorted[turns - 1] -> sorted[0]
filling-last-option: a sync is compressed as the last option says
    layouts/sketch.c terms_of: smaller(t.sync_ns, $1) -> $1
filling-state-on-device: all states are on the device, whatever share the host may hold
    priced/tiers.c priced_least_resident: smaller(least, $1) -> least
filling-swap-charged: room is made by recomputing alone
    layouts/room.c sketch_recomputation_ns: never s->swaps && ns > 0
filling-swap-kept: what is swapped keeps as much as what is recomputed
    layouts/sketch.c room_of: room.stash_bytes[2] = 0 -> room.stash_bytes[2] += 0
same-despite-overlap: with one exposed sync the other may be beside the gradients
    layouts/compare.c syncs_comparable: SYNC_EXPOSED && -> SYNC_EXPOSED ||
[test_groups] the planner's bounds of groups
group-split: splitting the backward makes no pass slower
    layouts/group.c standing_for: never kind->splits_backward
group-gathers-overlapped: gathers take no longer after a pass than beside it
    layouts/group.c layout_group: always !sharded
group-breadth-first: whatever the schedule, weights are gathered for each micro-batch
    layouts/group.c standing_for: always !kind->layered
[test_check_space] the checker's
group-ranks: the mean rank does more than its share
    space/group.c mean_of: (all + p->ranks - 1) -> (all + 2 * p->ranks + all)
group-every-run: every layer takes as long as those of any run
    space/group.c mean_of: always passes_of(p, other) >= one
[test_claims] the checker's
bound-last-send: a sync waits for what the last pass sends
    space/bound.c own_tail: drop - last_send(s, rank)
bound-own-message: the message that fills the rank counts on top of its load
    space/bound.c fill_of: zero s->block_forward
bound-without-barrier: a rank without a barrier waits for the pipeline to fill
    space/bound.c along_stream: always s->p->barrier
bound-whole-sync: a sync beside the gradients takes its whole time
    space/bound.c ending_of: !s->p->overlapped -> s->p->turns
bound-steps-in-series: of several stages none steps while another syncs
    space/bound.c sync_and_step: always s->p->turns == 1
bound-gradients-of-local: gradients go over local boundaries, too
    space/bound.c blocked: backward = p->local_every ? 0 : -> backward =
bound-layers-before: all other main layers stand before what a rank must hold
    space/bound.c check_rank_takes_anyway: {0, 0}, -> {s->main_count, 0},
bound-one-other-more: ranks must have room for one other layer more than there are
    space/fill.c both_held: >= s->others -> > s->others
bound-lost-slices: a rank does all slices before the one that crosses it
    space/across.c on_rank: i < slice -> i < 0
room-kept: every stage of a rank holds as many as the one that holds the most
    space/held.c take_fullest: fullest[turns - 1] -> fullest[0]
bound-last-option: a sync is compressed as the last option says
    space/sketch.c check_terms_of: smaller(t.sync, $1) -> $1
bound-state-on-device: all states are on the device, whatever share the host may hold
    space/sketch.c room_of: smaller(states, $1) -> r->optimizer_bytes[0]
bound-swap-charged: room is made by recomputing alone
    space/memory.c check_least_recomputation: never s->swaps
bound-swap-kept: what is swapped keeps as much as what is recomputed
    space/sketch.c room_of: room.stash[MODE_FULL] = 0 -> room.stash[MODE_FULL] += 0
dominated-despite-overlap: with one exposed sync the other may be beside the gradients
    space/compare.c check_no_worse: !a->overlapped && -> !a->overlapped ||
dominated-without-barrier: a layout without a barrier is bounded by one with it
    space/compare.c same_graph: a->barrier <= -> a->barrier >=
[test_claims] the checker of proofs
proof-prices-alone: what uses a resource pays, and nothing is granted for its limit
    boxes/mix_price.c mix_price: (wide)round->prices[r] -> (wide)0
proof-memory-alone: bytes on a rank pay, and nothing is granted for what it may hold
    boxes/mix_price.c mix_price: zero (wide)round->memory[i].price
proof-memory-unheld: a stage holds one micro-batch more than its graph says
    boxes/mix_price.c memory_value: held[turn] -> (held[turn] + 1)
proof-dearest-embedding: the embedding sync is that of the worst first stage
    boxes/mix_price.c least_embedding: ns < least -> ns > least
proof-memory-not-granted: what a rank holds pays, and nothing is granted for its limit
    boxes/mix_ranks.c open_view: v->memory->price * limit -> 0 * limit
proof-decision-left-out: a stage of a rank never has the last of its choices
    boxes/mix_decisions.c next_decision: ++places[turn] < -> ++places[turn] + 1 <
proof-decision-half: a rank's decisions fit into half of its memory
    boxes/mix_decisions.c evaluate: .memory_limit) -> .memory_limit / 2)
[test_check_load] the greatest load: enumeration, the schedule's streams, forgeries
load-delays: a rank is busy while a message is on its way
    checker/load.c send: receiver, kind + PART_LINKS -> sender, kind + PART_DELAYS
load-one-end: a part that blocks counts at its sender alone
    checker/load.c send: i < 2 -> i < 1
load-dominated: of two choices the one with the shorter sync is better, whatever its load
    checker/choices.c no_slower: a->load <= b->load -> a->sync <= b->sync
load-for-time: a proof about one objective is one about any other
    checker/proof.c check_one_proof: never result->objective != (int)p->objective
[test_widths] stages with widths of their own
widths-slots: a stage takes one slot, however wide it is
    checker/layout/plan.c check_use: check_seat_slots(p, c->group) -> 1
widths-own-devices: every width of a node group has devices of its own
    checker/layout/plan.c check_use: == p->groups[resource].of_node_group -> < 0
widths-greatest-use: stages use no more slots than there are stages
    checker/layout/plan.c check_most_use: most * p->stages -> p->stages
widths-bytes: a layer has the same bytes at any width
    checker/layout/stage.c add_layers: check_run_at(r, g) -> r
widths-message: a message has the same bytes at any width
    checker/layout/stage.c add_boundaries: check_message_at(before, $1) -> before->message_bytes
widths-stash-falls: recomputation makes room at every width where it does at the widest
    choices/choices.c stash_falls: priced_run_at(&p->runs[r], group)-> -> p->runs[r].
widths-implied: what the other groups leave follows from the number of stages
    boxes/dynamic_uses.c choose_counted: !priced_has_widths(d->c->priced) -> 1
widths-of-a-group: where a node group has one width, the others stay
    layout/widths.c restricted: !taken && -> false &&
widths-skipped: every other width of a node group is left out
    layout/widths.c advance: c->taken[i] + 1 -> c->taken[i] + 2
[test_first_layers] where stages start before a run of like layers
first-layer-early: the layers before the run are like it
    choices/choices.c free_from: priced_first_layer(p, run) -> priced_first_layer(p, run - 1)
first-layer-message: the message before the run is like those in it
    choices/choices.c free_from: never p->runs[run - 1].cut != p->runs[run].cut
first-layer-last: a rule that forbids the last stage some layers forbids it one more
    choices/choices.c last_least: layers_max + 1 -> layers_max + 2
first-layer-left-out: no stage starts right before the run
    choices/choices.c enumerate_stage: first < free_from -> first + 1 < free_from
first-layer-anywhere: what starts right before the run states no place
    choices/together.c covers_layers: choices_place(c, layer) -> choices_place(c, layer + 1)
first-layer-removed: one in four choices ends a layer earlier
    boxes/ranks.c couple_places: from + x->layer_count -> from + x->layer_count - (i % 4 > 2)
first-layer-checked-early: for the checker a layer before the run is like it
    checker/layout/choices.c find_free_layer: from == 1 -> from <= 2
first-layer-followed: the checker removes what starts at the run's first layer
    checker/layout/couple.c follow_places: free] = true -> free] = end < free
[test_formulate] the rows of the program
first-layer-row: the first place has no row
    program/formulate.c add_positions: int position = 1 -> int position = 2
[test_check_worth] costs, loads and limits of a space: every layout by itself, forgeries
worth-time: the cheapest plan is the fastest
    space/worth.c check_weight: never s->objective == MINIMISE_COST
worth-cap: limits exclude no plan
    space/worth.c check_goal_ns: never cap_ns < goal_ns
worth-edge: a plan that takes all that the limit allows breaks it
    space/worth.c check_goal_ns: cap_ns == INT64_MAX ? -1 : cap_ns + 1 -> cap_ns
worth-dominated: what is no slower is no dearer
    checker/space/space.c audit_dominated: never other->fate != FATE_IS_MEMORY
worth-limit: the plan need not keep the limits that it is the best within
    checker/space/space.c audit_chosen: never time_ns > cap_ns
worth-mean: the load of all micro-batches is that of one
    space/bound.c check_average_reaches: MINIMISE_LOAD -> MINIMISE_COST
[test_check_rows] Pipette's rows: enumeration
rows-taken: a row takes the nodes that are cheapest for it
    places/rows.c complete: m->tail[first][i].nodes & taken -> i
rows-fits: no stage is the same wherever it stands
    places/rows.c holds: never x->first < 0
rows-inner: the rings within first nodes go one after the other
    places/rows.c try_firsts: inner = larger(inner, $1) -> inner += $1
rows-hop: a micro-batch goes there and back twice
    prices/rows.c traffic_of: 2 * message -> 4 * message
rows-objective: rows have a value by any objective
    places/rows.c check_audit_rows: drop || result->objective != MINIMISE_PIPETTE
[test_check_nodes] spaces on named nodes: every layout by itself on its nodes, forgeries
nodes-zero: ranks on nodes support nothing
    space/walk.c refusal_by_nodes: l->value[KEY_ZERO] > 1 -> l->value[KEY_EXPERT]
nodes-slots: a group has one node
    prices/free.c count_slots: drop * x->nodes[g]
nodes-goal: any bound of a layout closes it
    checker/space/space.c audit_placements: goal_ns >= 0 && own.bound_ns >= goal_ns -> 1
[test_claims] on places
placed-worst-link: of what may join two groups the worst counts
    checker/places/relax.c check_take_least: price < *least -> price > *least
[test_check_places] by reaches: enumeration of placements
reach-alone: every ring is on one group
    checker/places/reaches.c can_be: size_of(reach) <= x->replicas && -> 0 &&
reach-lowest: a ring uses the cards of its first group
    checker/places/reaches.c weigh: kind_of[reach] -> kind_of[reach & -reach]
reach-sum: a ring enters a group over two links, one after the other
    checker/places/reaches.c least_weight: (m, others, 1u << g) -> (m, others, 1u << g) * 2
reach-room: every ring on several groups has two members on each
    checker/places/reaches.c fits: x->replicas : size_of -> x->replicas : 2 * size_of
reach-left: what rings on a group alone take of it is twice what they take
    checker/places/reaches.c limit_slots: (int64_t)ranks[g] -> 2 * (int64_t)ranks[g]
[test_layout_kinds] layers of several kinds: enumeration finds what is said of what a rank holds
filling-main-everywhere: every rank between the ends holds a main layer
    layouts/crossing.c again_elsewhere_ns: s->apart - others_here -> 0
bound-main-everywhere: every rank between the ends holds a main layer
    space/across.c recomputed_away: smaller(s->strays - others, main) -> 0
filling-ends-hold-more: the ranks at the ends hold a main layer, too
    layouts/crossing.c find_needs: s->has_first; rank < s->ranks - s->has_last -> 0; rank < s->ranks
filling-others-as-dear: a rank of other layers recomputes for as long as one of main layers
    layouts/crossing.c again_elsewhere_ns: smaller(main_ns, x->other.again_ns) -> main_ns
bound-ends-hold-more: the ranks at the ends hold a main layer, too
    space/across.c count_paying: !(s->has_first && rank == 0) && -> true ||
bound-others-as-dear: a rank of other layers recomputes for as long as one of main layers
    space/across.c recomputed_away: smaller(x->main_again, x->other_again) -> x->main_again
[test_layout_paths]
filling-main-forced: each stage apart from the ends holds a main layer
    layouts/room.c fewest: always s->only_ends
filling-first-group: what does not fit on the first group fits on none
    layouts/crossing.c recomputes: g < s->group_count -> g < 1
filling-main-before: each stage before the rank holds a main layer
    layouts/bound.c ends_of: s->fill_ns -> s->fill_main_ns
filling-main-drains: the way back goes through a main layer of each stage
    layouts/bound.c ends_of: s->drain_ns -> s->drain_main_ns
filling-others-alone: others cannot be recomputed where main layers cannot
    layouts/sketch.c gather_others: always p->runs[main].recomputable || !p->runs[r].recomputable
filling-ends-keep: the first and the last layer are never recomputed
    layouts/room.c least_of_end: smaller(stash[0], $1) -> stash[0]
filling-main-slice: main layers are equal slice by slice
    layouts/sketch.c gather_group: (p->slice_count == 1 || !runs_alike(p, r, run)) -> true
bound-main-slice: main layers are equal slice by slice
    space/sketch.c read_group: (p->slices == 1 || !check_is_main(s, r)) -> true
bound-main-forced: each stage apart from the ends holds a main layer
    space/memory.c check_forced: always s->only_ends
bound-first-group: what does not fit on the first group fits on none
    space/across.c pays_for: g < s->group_count -> g < 1
bound-main-before: each stage before the rank holds a main layer
    space/bound.c fill_of: s->fill, -> s->fill_main,
bound-main-drains: the way back goes through a main layer of each stage
    space/bound.c drain_of: s->drain, -> s->drain_main,
bound-others-alone: others cannot be recomputed where main layers cannot
    space/sketch.c find_others: never p->runs[r].recomputable && !main_again
bound-ends-keep: the first and the last layer are never recomputed
    space/memory.c least_of_end: smaller(end->stash[0], $1) -> end->stash[0]
filling-drain-split: a split backward is drained as a joint one
    layouts/bound.c streaming_ns: always s->joint
bound-returns-any: whatever a rank's last pass is, it is a backward
    space/held.c find_ways: always order[last].pass == PASS_B
bound-drain-unsent: the drain follows the last pass of any schedule
    space/bound.c along_stream: never !s->held[rank].returns
bound-across-local: a slice comes back from the last rank, local losses or not
    space/across.c check_find_across: never p->local_every
[test_exact_schedules] segments whose inputs are stored: enumeration, certificates
stored-sender-keeps: the stage before stored inputs keeps messages, too
    choices/evaluate.c add_buffers: schedule_sends(r, stage) -> !schedule_is_inner(r, stage)
stored-one-order: segments have the order of one pipeline
    schedule/request.c schedule_segment_end: always !r->stored_inputs
[test_keys] verify: what a plan states, and parts that it leaves out
judged-copies: what is written for people needs no judge
    judge/copies.c same_number: never found < own || found > own
judged-name: a plan by the hash of its problem has its name
    judge/stated.c state_end: never strcmp(p->name, s->problem->name)
judged-outcome: an open gap may be said of a plan that has none
    judge/verify.c audit_bound: never p->outcome == OUTCOME_OPEN
absent-part: a part that is missing has no place
    text/json.c place_absent: member_at(object, NULL, f->key, arena) -> (struct json){0}
[test_price_grids] tensor grids: laws, and the other side, find these
grid-attention-split: the ranks of the axis of the depth share the attention out
    formulate/price/attention.c add_attention: / x->t1; -> / (x->t1 * x->t2);
grid-lone-rings: a ring of any axis has the cards of its node to itself
    price/links.c link_of_tensor_axis: group, lengths[axis], before -> group, lengths[axis], 1
grid-at-once: matrices are gathered while inputs' gradients are summed
    formulate/price/layers.c moving: communication + under, -> communication + 0 * under,
links-promised-twice: what is gathered has the links that a pass's sums have
    formulate/price/layers.c shares_at: {backward, moved.weights_s -> {0 * backward, moved.weights_s
grid-kept-free: what is kept takes no room
    formulate/price/stash.c stash_of_layer: kept ? once : 0; -> 0;
[test_price_judge]
grid-more-hidden: more of a sum is hidden than the products take
    formulate/price/layers.c by_formula: products_s, c.weight -> products_s, 2 * c.backward
grid-kept-whole: what was gathered forward is still there on the way back
    formulate/price/grid.c collectives_of_grid: != LAYER_EMBEDDING -> != LAYER_BLOCK
grid-one-order: whichever axis is innermost, the first is
    data/inputs/degrees.c layout_axis_stride: grid_order_names[l->grid_order] -> grid_order_names[0]
grid-whole-norms: norms sum over tokens that other ranks have
    formulate/price/grid.c norm_s: tokens / x->t1 : tokens -> tokens : tokens
grid-free-step: nobody waits for matrices after the step
    solve/judge/price/grid.c gathered_after_step: say(&gather.value, -> say(&talk.forward_s,
[test_grids]
grid-two-axes: no grid has all its ranks on the third axis
    space/walk.c walk_grids: third <= tensor -> third < tensor
grid-orders-twice: axes of one rank have a place of their own
    solve/checker/space/grids.c succession: > 1 -> > 0
[test_price_towers] towers cost what a model of their own would
tower-one-piece: a sequence brings one image, whatever the pieces
    price/pricing.c take_tokens: pieces ? pieces : 1 -> 1
tower-model-norms: a tower has the norms of the model behind it
    formulate/price/attention.c norms_of: x->shape -> &x->problem->model.shape
tower-message-width: behind a projector tokens are as wide as before it
    price/memory.c bytes_of_layer: (real)run->projector.outputs -> x->h
tower-inputs-summed: tensor ranks sum as much on the way back as on the way there
    price/communication.c communication_of_layer: p->inputs -> p->outputs
[test_price_judge]
tower-judged-sequences: the judge sees the scores of one image of a sequence
    price/own.c audit_of_run: audit.sequences = sequences -> audit.sequences = whole->sequences
[test_price_judge] arrays of multipliers
arrays-filled-once: an array is filled with weights before the first block alone
    price/arrays.c cycles_of: drop + filling
arrays-judged-deep: heads are as wide as deep in the arrays
    judge/price/product.c judged_filled_arrays: key_deep + value_wide -> key_deep + value_deep
arrays-any-buffer: every buffer holds a product's matrices
    price/arrays.c traffic_of: return p->count * fmaxl(once, blocked) -> return p->count * once
[test_least] bounds of designs that need no search
least-whole-rows: rows are never split among arrays
    price/least.c streamed_s: pieces(blocks * parts, a->units) / parts -> pieces(blocks, a->units)
least-token-by-token: a token of a weight's gradient fills an array's rows alone
    price/least.c learned_s: (a->rows * a->units) -> a->units
[test_price_judge] tensor collectives beside the products
beside-across-nodes: chunks go round beside the products over the network, too
    price/communication.c sums_beside_products: drop tensor->intra &&
beside-any-job: the judge takes every sequence-parallel job to pass chunks beside the products
    price/talk.c layered_talk: drop a->problem->job.overlapped_tensor &&
[test_check_space]
tower-context: context ranks take a tower as any model
    space/walk.c refusal_by_shape: never s->tower && l->value[KEY_CONTEXT] > 1
tower-same-messages: messages as wide are as long
    prices/prices.c same_message: == values_sent(x, q) -> >= 0
[test_exact_decisions] pools and weights that layers share, frozen layers in few bits
pool-of-a-stage: a pool that layers share lies on one stage
    price/links.c spread_of_pool: never run->pool.shared
pool-unsummed: copies of a pool's parts never meet
    formulate/price/sync.c pool_sum_s: bytes, p->copies -> bytes, 1
pool-whole-state: each copy of a pool has all of the state
    price/memory.c kept_values: p->pool > 0 ? -> p->pool < 0 ?
pool-asks-all: a device asks all that have some of a pool, not its group
    price/communication.c pool_s: spread_of_pool(x, run).parts -> x->D
weights-of-a-stage: weights that layers share are summed over the replicas of one stage
    price/memory.c shared_weight_step_s: drop * x->p
bits-without-scales: values in few bits have no scales
    price/memory.c frozen_value_bytes: drop + 2.0L / 128
pool-judged-alone: the judge sees a pool on one stage
    price/link.c pool_devices: never r->pool.shared
pool-judged-neighbours: the judge sees copies of a part beside each other
    price/link.c judged_pool_ring: smaller(apart, per_node) -> 1
pool-judged-gradients: the judge gathers gradients where weights are gathered
    judge/price/sync.c judged_pool_sum_s: never a->zero > 0
weights-judged-alone: the judge sums shared weights over the replicas of one stage
    price/weight.c shared_copy_s: a->ranks * a->pipeline) -> a->ranks)
bits-judged-without-scales: the judge sees no scales
    price/weight.c kept_bytes: drop + 2
pool-checked-apart: nothing lies on a device beside its layers
    prices/prices.c price_bytes: zero constant_bytes_of(a, g)
weights-checked-free: a stage takes nothing beside its layers
    prices/prices.c price_times: zero sync_constant_ns(&x->price_audit, g)
bits-checked-whole: weights are held as their gradients are
    prices/prices.c price_run_bytes: b.weight -> b.gradient
[test_placed] the fused embedding sync on nodes: enumeration, the judge, the checker
fused-first-stages: the ring goes through the first stages alone
    solve/places/embedding.c find_members: drop + last
fused-both-links: the links into a node and out of it are gone over one after the other
    priced/places.c least_through: larger(in, out) -> in + out
fused-judged-open: the ring that the judge sees does not close
    judge/places.c audit_embedding_ring: if ($1) continue -> if (at + 1 == count || ($1)) continue
[test_placed] a rank alone sends nothing: nodes that no link connects
alone-judged-sending: a rank on a node sends to itself
    judge/graph.c raise_messages: from == to -> from > to
[test_layouts]
refused-whatever-shared: no refusal depends on the barrier or on ZeRO
    layouts/work.c refused_alike: always !model_shared_pool(m) && !model_shares_weights(m)
[test_dispatch] what is sent to experts beside another micro-batch, and kinds of context ranks
beside-wholly: passes hide all of the dispatch that they are as long as
    formulate/price/layers.c dispatch_shown_s: drop x->problem->costs.dispatch_overlap.value *
[test_price_judge]
beside-one-batch: a rank keeps one micro-batch's layer, though two are at work
    formulate/price/stash.c block: drop + (beside ? bytes->stash[mode] : 0)
beside-judged-apart: the judge hides a share of the passes, however little there is to hide
    judge/price/talk.c judged_routing_s: (1 - share) * routed -> 0
[test_switches]
context-judged-job: the judge asks the job alone how context ranks exchange
    judge/switches.c judged_problem: layout->context_kind ? -> 0 ?
context-checked-job: the checker prices context ranks by the job's own word
    checker/prices/space.c space_switch: if (l->value[KEY_CONTEXT_KIND]) -> if (0)
[test_check_space]
beside-nothing-in-hand: a rank with one stage of several has another micro-batch's passes at hand
    space/frameworks.c dispatches_beside: v[KEY_TURNS] > 1 -> v[KEY_TURNS] >= 1
beside-repeated: experts that are passed again are dispatched beside, too
    space/frameworks.c dispatches_beside: drop && !check_repeats_experts(mode)
uneven-always: to the checker, interleaved stages of Megatron need never be equal
    space/frameworks.c megatron_runs: equal || s->uneven -> equal || s->layers
uneven-never: or always, whatever the space says
    space/frameworks.c megatron_runs: equal || s->uneven -> equal
context-any-heads: ranks exchange heads of which some have none
    space/walk.c splits_heads: always check_context_of(s, l) != CONTEXT_BY_HEADS
sliced-tiers: the checker takes slices to be cut with tiers
    prices/space.c space_read: || p->job.tier_option_count -> || 0
pool-checked-any: the checker takes any degree of a pool
    space/walk.c refusal_by_shape: !pool || pool % l->value[KEY_POOL] -> !pool
[test_pools]
pool-walked-half: a group has at least two of a pool's devices
    inputs/space.c pool_values: divisors(devices, 0, values) -> divisors(devices, 1, values)
pool-checked-half: the checker's groups have at least two of a pool's devices
    space/walk.c put_pools: int64_t d = 1 -> int64_t d = 2
pool-checked-stage: the checker sees a shared pool on one stage
    space/walk.c devices_of_pool: drop || s->shares_pool
[test_expert_degrees]
beside-checked-job: the checker prices by the job's own word
    checker/prices/space.c space_switch: drop || l->value[KEY_BESIDE]
[test_check_places]
fused-two-ranks: a fused sync is one of two ranks
    formulate/price/sync.c embedding_sum_s: drop * x->R
fused-worst-links: of what the ring may come in over the worst counts
    checker/places/embedding.c lesser: a < b -> a > b
[test_verify_price] what has no bytes, and degrees that leave devices idle
empty-message-free: nobody sends an empty message
    price/transfers.c price_parts: size_s += -> if (bytes > 0) size_s +=
[test_check_space]
idle-divides: what leaves devices idle divides them
    inputs/space.c devices_fit: return true -> return w->limits->devices % used == 0
idle-checked-divides: the checker takes what leaves devices idle to divide them
    space/walk.c degrees_fit: return left >= 1 -> return exact
[test_raise_laws] laws of a priced document's integers
queued-sync-hides: a sync that waits for another one still hides behind its own gradients
    choices/evaluate.c choice_evaluate: + walk.sync_ns -> + walk.tail_ns
tail-of-first-layer: of like layers the first one in the walk has the longest tail
    choices/evaluate.c walk_sync: larger(w->tail_ns, w->sync_ns - $1) -> larger(w->tail_ns, 0)
[test_ends] everything ends
refit-without-measure: what frees bytes at the fullest moment brings a rank nearer to its limit
    boxes/memory.c lowers_excess: then.over_bytes < f->over_bytes -> then.over_bytes <= INT64_MAX
[test_supervise]
kept-bound-falls: the last bound that is stated is the best
    process/supervise.c supervised_bounds: drop && bound_ns > own->bound_ns
[test_quality]
second-search-unseen: the search for the least quality cost is no effort
    questions/quality.c lower_quality: plan_effort_add(&plan->effort, $1) -> (void)better
[test_price_laws] laws of a time
stream-of-one-sync: the sync stream of a rank has the work of one stage
    judge/streams.c audit_rank: judged_later(sync, $1) -> $1
queued-sync-again: a stage hides as much of its sync, however late the stream comes to it
    choices/together.c choices_stage_durations: x->queued_sync_ns -> x->sync_ns
"""

OUT = 'build/release'
FOLDER, TREE = 'build/planted', 'build/planted/tree'
# Many an error of thought ends the program at an assert. Asked is whether the test would tell.
ASSERTS_OFF = '-DNDEBUG -Wno-unused-variable -Wno-unused-function ' \
    '-Wno-unused-but-set-variable -Wno-unused-parameter'
JOBS = int(os.environ.get('TEST_JOBS') or os.cpu_count() or 1)
PROBLEMS = os.environ.get('PLANTED_PROBLEMS', '500')
TOKEN = re.compile(r'//[^\n]*|"(?:\\.|[^"\\])*"|\$?\w+|->|&&|\|\||[-+*/%&|<>=!^]=|<<|>>|\+\+|--|\S')
Plant = collections.namedtuple('Plant', 'test name thought file function change')


def plants():
    lines, test = PLANTS.strip('\n').split('\n'), None
    while lines:
        line = lines.pop(0)
        if line.startswith('['):
            test = line[1:line.index(']')]
            continue
        name, thought = line.split(': ', 1)
        place, change = lines.pop(0).split(': ', 1)
        yield Plant(test, name, thought, *place.split(), change)


def body(text, function):
    """Where in a source the function's body begins and ends."""
    head = re.compile(r'^\w[^;{}=#]*?\b%s\([^;{}]*\)\s*\{' % function, re.M)
    found = [m.end() for m in head.finditer(text)]
    if len(found) != 1:
        raise ValueError('%d functions %s' % (len(found), function))
    at, depth = found[0], 1
    while depth:
        depth += {'{': 1, '}': -1}.get(text[at], 0)
        at += 1
    return found[0], at


def tokens(text, begin=0, end=None):
    return [m for m in TOKEN.finditer(text, begin, len(text) if end is None else end)
            if not m.group().startswith('//')]


def match(words, there, at):
    """The place behind words among the tokens there, and what $1 stands for; None: not at it."""
    argument = None
    for word in words:
        if word == '$1':
            begin, depth = at, 0
            while at < len(there) and (depth or there[at].group() not in ',)'):
                depth += {'(': 1, '[': 1, ')': -1, ']': -1}.get(there[at].group(), 0)
                at += 1
            argument = there[begin].start(), there[at - 1].end()
        elif at == len(there) or there[at].group() != word:
            return None
        else:
            at += 1
    return at, argument


def planted(plant, text):
    change, _, nth = plant.change.partition(' #')
    kind, _, old = change.partition(' ')
    new = {'zero': '0', 'never': '0', 'always': '1', 'drop': ''}.get(kind)
    if new is None:
        old, new = change.split(' -> ', 1)
    begin, end = body(text, plant.function)
    there, words = tokens(text, begin, end), [m.group() for m in tokens(old)]
    found = [(i, m) for i in range(len(there)) for m in [match(words, there, i)] if m]
    if len(found) != 1 and not 0 < int(nth or 0) <= len(found):
        raise ValueError('%d places for %s in %s' % (len(found), old, plant.function))
    first, (behind, argument) = found[int(nth or 1) - 1]
    if argument:
        new = new.replace('$1', text[slice(*argument)])
    return text[:there[first].start()] + new + text[there[behind - 1].end():]


def apply(plant, files):
    """The file's name, its text and the changed one."""
    parts = re.compile('(.*/)?' + '/(.*/)?'.join(map(re.escape, plant.file.split('/'))))
    texts = [(f, open(f).read()) for f in files if parts.fullmatch(f)]
    named = [(f, text) for f, text in texts if plant.function + '(' in text]
    try:
        if len(named) != 1:
            raise ValueError('%d files %s with %s' % (len(named), plant.file, plant.function))
        return named[0] + (planted(plant, named[0][1]),)
    except ValueError as why:
        raise SystemExit('planted: %s no longer applies: %s' % (plant.name, why))


def sources():
    return [os.path.join(at, f)[2:] for at, folders, names in os.walk('.')
            if not at.startswith(('./build', './.git')) for f in names if f.endswith('.c')]


def build(name, test):
    """The program, and the test that it asks."""
    made = subprocess.run(
        ['make', '-C', TREE, '--no-print-directory', '-j%d' % JOBS, 'BUILD=release',
         'CFLAGS=' + ASSERTS_OFF, 'bin/plumbline', '%s/tests/%s' % (OUT, test)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if made.returncode:
        raise SystemExit('%s\nplanted: %s: does not build' % (made.stdout, name))
    os.mkdir('%s/bin-%s' % (TREE, name))
    for program in 'bin/plumbline', '%s/tests/%s' % (OUT, test):
        shutil.copy(os.path.join(TREE, program), '%s/bin-%s' % (TREE, name))


def judge(name, test):
    """One run. test_claims may be stopped, after some claims above the truth, by a plan that the
    planted program's judge refuses; other tests must fail at a question, not at an assert."""
    begun, log = time.time(), '%s/%s.log' % (FOLDER, name)
    claims = test == 'test_claims'
    words = ['bin-%s/%s' % (name, test)] + [PROBLEMS] * claims
    with open(log, 'wb') as to:
        status = subprocess.run(words, cwd=TREE, stdout=to, stderr=to,
                                env=dict(os.environ, BIN='bin-' + name)).returncode
    said = open(log, errors='replace').read()
    told = collections.Counter(re.findall(r'^seed \d+: (.*): claimed .*, true ' if claims else
                                          r'^\[  FAILED  \] (\w+)$', said, re.M))
    right = not status and not told if name == 'nothing-planted' else status and told
    what = ', '.join('%s %d' % t for t in told.items()) or 'nothing'
    print('%s %s (%d s): %s%s' % (
        'as expected' if right else 'FAILED', name, time.time() - begun, what,
        '' if right else '; exit %d, see %s' % (status, log)), flush=True)
    return bool(right)


def main(names):
    table, files = list(plants()), sources()
    if names == ['--apply']:
        stale = 0
        for plant in table:
            try:
                apply(plant, files)
            except SystemExit as why:
                print(why, file=sys.stderr)
                stale = 1
        return stale
    unknown = set(names) - {p.name for p in table}
    if unknown:
        raise SystemExit('planted: an unknown name: ' + ' '.join(unknown))
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.copytree('.', TREE, ignore=lambda at, _: ['build', 'bin', '.git'] if at == '.' else [])
    built = [('nothing-planted', 'test_claims')]
    build(*built[0])
    for plant in table:
        if names and plant.name not in names:
            continue
        file, text, changed = apply(plant, files)
        for content in changed, text:
            with open(os.path.join(TREE, file), 'w') as to:
                to.write(content)
            if content == changed:
                build(plant.name, plant.test)
        built.append((plant.name, plant.test))
        print('%-28s %s' % (plant.name, plant.thought), flush=True)
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        right = list(pool.map(lambda b: judge(*b), built))
    print('%d as expected, %d failed' % (sum(right), len(right) - sum(right)))
    return int(not all(right))


sys.exit(main(sys.argv[1:]))
