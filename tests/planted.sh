#!/bin/sh
# Whether tests/test_claims finds errors of thought that are known: planted.sh [NAME ...], with
# build/release/tests/test_claims built. Each is planted in a copy of the sources, where one line
# changes; the bed of test_claims, run against it, must tell of claims above the truth. Without a
# plant it must tell of none. With names: these plants alone. --apply: only whether each still
# changes one line, all that do not.
# TEST_JOBS: so many runs at a time. PLANTED_PROBLEMS=500: problems of each.
set -u
out=build/release
folder=$out/planted tree=$out/planted/tree
# Many an error of thought ends the program at an assert. Asked is whether the bed would tell.
asserts_off='-DNDEBUG -Wno-unused-variable -Wno-unused-function'
asserts_off="$asserts_off -Wno-unused-but-set-variable -Wno-unused-parameter"
jobs=${TEST_JOBS:-$(nproc 2> /dev/null || echo 1)} problems=${PLANTED_PROBLEMS:-500}

# Name, file, what makes of one line another, what is then thought.
plants() {
    # ---- the planner's bounds of a layout from its prices
    plant filling-last-send layouts/bound.c \
        's/? s->block_backward_ns : 0;/? 0 * s->block_backward_ns : 0;/' \
        'a sync waits for what the last pass sends'
    plant filling-own-message layouts/bound.c \
        's/^ *s->block_forward_ns; /0; /' \
        'the message that fills the rank counts on top of its load'
    plant filling-without-barrier layouts/bound.c 's/if (s->barrier) own += ends/own += ends/' \
        'a rank without a barrier waits for the pipeline to fill'
    plant filling-whole-sync layouts/bound.c \
        's/if (!s->overlapped) return e;/if (s->turns) return e;/' \
        'a sync beside the gradients takes its whole time'
    plant filling-steps-in-series layouts/bound.c \
        's/return s->turns > 1 ? larger(e.sync_ns/return s->turns < 1 ? larger(e.sync_ns/' \
        'of several stages none steps while another syncs'
    plant filling-gradients-of-local layouts/bound.c \
        '/return load + sketch_boundaries/ {
             n; s/(s->local ? 0 : s->block_backward_ns)/s->block_backward_ns/
         }' \
        'gradients go over local boundaries, too'
    plant filling-layers-before layouts/fill.c \
        's/i, 0, s->main_count, limit_ns)/i, 0, 0, limit_ns)/' \
        'a rank on any group has no main layers before it'
    plant filling-one-other-more layouts/fill.c \
        's/return sum\[s->main_count\] >= s->others;/return sum[s->main_count] > s->others;/' \
        'ranks must have room for one other layer more than there are'
    plant filling-others-rest layouts/room.c \
        's/full.other \* full_bytes(other, mode)/full.other * kept_bytes(other, mode)/' \
        'others that are recomputed keep as much as before'
    plant filling-lost-slices layouts/crossing.c \
        's/all_ns - lost, l->pass_ns/all_ns - 0 * lost, l->pass_ns/' \
        'a rank does all slices between the first that crosses it and the last'
    plant filling-kept layouts/kept.c 's/least = sorted\[turns - 1\];/least = sorted[0];/' \
        'every stage of a rank keeps as many as the one that keeps the most'
    plant filling-last-option layouts/sketch.c \
        's/t.sync_ns = smaller(t.sync_ns, \(.*\));/t.sync_ns = \1;/' \
        'a sync is compressed as the last option says'
    plant filling-state-on-device layouts/sketch.c \
        's/priced_least_states(p, r)}/r->optimizer_bytes}/' \
        'all states are on the device, whatever share the host may hold'
    plant filling-swap-charged layouts/room.c 's/s->swaps \&\& ns > 0 ? 0 : ns;/ns;/' \
        'room is made by recomputing alone'
    plant filling-swap-kept layouts/sketch.c \
        's/room.stash_bytes\[2\] = 0;/room.stash_bytes[2] += 0;/' \
        'what is swapped keeps as much as what is recomputed'
    plant same-despite-overlap layouts/compare.c \
        's/SYNC_EXPOSED && y->gradient_sync ==/SYNC_EXPOSED || y->gradient_sync ==/' \
        'with one exposed sync the other may be beside the gradients'
    # ---- the checker's
    plant bound-last-send space/bound.c \
        's/sync_and_step(s, e) - last_send(s, rank)/sync_and_step(s, e) - 0 * last_send(s, rank)/' \
        'a sync waits for what the last pass sends'
    plant bound-own-message space/bound.c \
        's/^ *s->block_forward;$/0;/' \
        'the message that fills the rank counts on top of its load'
    plant bound-without-barrier space/bound.c \
        's/(s->p->barrier ? fill : 0) + busy/fill + busy/' \
        'a rank without a barrier waits for the pipeline to fill'
    plant bound-whole-sync space/bound.c \
        's/if (!s->p->overlapped) return e;/if (s->p->turns) return e;/' \
        'a sync beside the gradients takes its whole time'
    plant bound-steps-in-series space/bound.c \
        's/return s->p->turns == 1 ? e.sync + /return s->p->turns ? e.sync + /' \
        'of several stages none steps while another syncs'
    plant bound-gradients-of-local space/bound.c \
        's/backward = p->local_every ? 0 : forward;/backward = forward;/' \
        'gradients go over local boundaries, too'
    plant bound-layers-before space/bound.c \
        's/(struct check_share){s->main_count, s->others},/(struct check_share){0, 0},/' \
        'of what a rank must hold all other main layers stand behind it'
    plant bound-one-other-more space/fill.c \
        's/return sum\[all\] >= s->others;/return sum[all] > s->others;/' \
        'ranks must have room for one other layer more than there are'
    plant bound-lost-slices space/across.c \
        's/(before \&\& i < slice) ||/(before \&\& i < 0) ||/' \
        'a rank does all slices before the one that crosses it'
    plant room-kept space/held.c 's/least = fullest\[turns - 1\];/least = fullest[0];/' \
        'every stage of a rank holds as many as the one that holds the most'
    plant bound-last-option space/sketch.c \
        's/t.sync = smaller(t.sync, \(.*\));/t.sync = \1;/' \
        'a sync is compressed as the last option says'
    plant bound-state-on-device space/sketch.c \
        's/states = smaller(states, r->optimizer_bytes\[o\]);/states = r->optimizer_bytes[0];/' \
        'all states are on the device, whatever share the host may hold'
    plant bound-swap-charged space/memory.c 's/s->swaps ? smaller(least, 0) : least;/least;/' \
        'room is made by recomputing alone'
    plant bound-swap-kept space/sketch.c \
        's/room.stash\[MODE_FULL\] = 0;/room.stash[MODE_FULL] += 0;/' \
        'what is swapped keeps as much as what is recomputed'
    plant dominated-despite-overlap space/compare.c \
        's/exposed = !a->overlapped && !b/exposed = !a->overlapped || !b/' \
        'with one exposed sync the other may be beside the gradients'
    plant dominated-without-barrier space/compare.c \
        's/a->barrier <= b->barrier/a->barrier >= b->barrier/' \
        'a layout without a barrier is bounded by one with it'
    # ---- the checker of proofs
    plant proof-prices-alone boxes/mix_price.c \
        's/m->priced_limits += ((wide)round->prices/m->priced_limits += 0 * ((wide)round->prices/' \
        'what uses a resource pays, and nothing is granted for its limit'
    plant proof-memory-alone boxes/mix_price.c \
        's/m->priced_limits += (wide)round->memory/m->priced_limits += 0 * (wide)round->memory/' \
        'bytes on a rank pay, and nothing is granted for what it may hold'
    plant proof-memory-unheld boxes/mix_price.c \
        's/c->resident + held\[turn\] \* c->stash +/c->resident + (held[turn] + 1) * c->stash +/' \
        'a stage holds one micro-batch more than its graph says'
    plant proof-dearest-embedding boxes/mix_price.c \
        's/ns < least)) least = ns/ns > least)) least = ns/' \
        'the embedding sync is that of the worst first stage'
    plant proof-memory-not-granted boxes/mix_ranks.c \
        's/v->granted = (v->memory->price/v->granted = 0 * (v->memory->price/' \
        'what a rank holds pays, and nothing is granted for its limit'
    # ---- the greatest load: enumeration, the schedule's streams, forgeries
    bed=test_check_load
    plant load-delays checker/layout/load.c \
        's/(l, sender, receiver, kind + PART_LINKS,/(l, sender, sender, kind + PART_DELAYS,/' \
        'a rank is busy while a message is on its way'
    plant load-one-end checker/layout/load.c \
        's/for (int i = 0; i < 2; i++) {/for (int i = 0; i < 1; i++) {/' \
        'a part that blocks counts at its sender alone'
    plant load-dominated checker/layout/choices.c \
        's/return a->load <= b->load;/return a->sync <= b->sync;/' \
        'of two choices the one with the shorter sync is better, whatever its load'
    plant load-for-time checker/proof.c 's/(result->objective != (int)p->objective)/(0)/' \
        'a proof about one objective is one about any other'
    # ---- costs, loads and limits of a space: every layout by itself, forgeries
    bed=test_check_worth
    plant worth-time space/worth.c \
        's/if (s->objective == MINIMISE_COST) return devices_of(l);/if (!s) return 0;/' \
        'the cheapest plan is the fastest'
    plant worth-cap space/worth.c \
        's/return cap_ns < goal_ns ? cap_ns + 1 : goal_ns;/return goal_ns;/' \
        'limits exclude no plan'
    plant worth-edge space/worth.c \
        's/return cap_ns == INT64_MAX ? -1 : cap_ns + 1;/return cap_ns;/' \
        'a plan that takes all that the limit allows breaks it'
    plant worth-dominated checker/space/space.c \
        's/if (other->fate != FATE_IS_MEMORY \&\& goal_of/if (0 \&\& goal_of/' \
        'what is no slower is no dearer'
    plant worth-limit checker/space/space.c \
        's/if (time_ns > cap_ns)/if (time_ns > INT64_MAX - 1)/' \
        'the plan need not keep the limits that it is the best within'
    plant worth-mean space/bound.c \
        's/MINIMISE_LOAD ? 1 : s->p->micro_batches;/MINIMISE_COST ? 1 : s->p->micro_batches;/' \
        'the load of all micro-batches is that of one'
    # ---- Pipette's rows: enumeration
    bed=test_check_rows
    plant rows-taken places/rows.c \
        's/if (m->tail\[first\]\[i\].nodes & taken) continue;/if (i) continue;/' \
        'a row takes the nodes that are cheapest for it'
    plant rows-fits places/rows.c 's/(x->first < 0 || x->first == first))/x->first == first)/' \
        'no stage is the same wherever it stands'
    plant rows-inner places/rows.c \
        's/inner = larger(inner, \(m->of->inner_ns\[lowest(left)\]\));/inner += \1;/' \
        'the rings within first nodes go one after the other'
    plant rows-hop prices/rows.c 's/.hop = 2 \* message,/.hop = 4 * message,/' \
        'a micro-batch goes there and back twice'
    plant rows-objective places/rows.c \
        's/!x->rows || result->objective != MINIMISE_PIPETTE/!x->rows/' \
        'rows have a value by any objective'
    # ---- spaces on named nodes: every layout by itself on its nodes, forgeries
    bed=test_check_nodes
    plant nodes-zero space/walk.c 's/if (l->value\[KEY_ZERO\] > 1) return/if (l->expert) return/' \
        'ranks on nodes support nothing'
    plant nodes-slots prices/free.c 's/(int)(each \* x->nodes\[g\]);/(int)each;/' \
        'a group has one node'
    plant nodes-goal checker/space/space.c \
        's/(goal_ns >= 0 \&\& own.bound_ns >= goal_ns)) return OK;/own.bound_ns >= 0) return OK;/' \
        'any bound of a layout closes it'
    bed=test_claims
    # ---- on places
    plant placed-worst-link checker/places/relax.c \
        's/(\*least < 0 || price < \*least)/(*least < 0 || price > *least)/' \
        'of what may join two groups the worst counts'
    # ---- layers of several kinds: enumeration finds what is said of what a rank holds
    bed=test_layout_kinds
    plant filling-main-everywhere layouts/crossing.c \
        's/apart = s->apart - others_here,/apart = 0 * others_here,/' \
        'every rank between the ends holds a main layer'
    plant bound-main-everywhere space/across.c \
        's/lacking = smaller(s->strays - others, main),/lacking = 0 * others,/' \
        'every rank between the ends holds a main layer'
    plant filling-ends-hold-more layouts/crossing.c \
        's/rank = s->has_first; rank < s->ranks - s->has_last;/rank = 0; rank < s->ranks;/' \
        'the ranks at the ends hold a main layer, too'
    plant filling-others-as-dear layouts/crossing.c \
        's/lone \* smaller(main_ns, x->other.again_ns)/lone * main_ns/' \
        'a rank of other layers recomputes for as long as one of main layers'
    plant bound-ends-hold-more space/across.c \
        's/bool inner = !(s->has_first \&\& rank == 0) \&\&/bool inner = true ||/' \
        'the ranks at the ends hold a main layer, too'
    plant bound-others-as-dear space/across.c \
        's/paying \* smaller(x->main_again, x->other_again)/paying * x->main_again/' \
        'a rank of other layers recomputes for as long as one of main layers'
    bed=test_layout_paths
    plant filling-main-forced layouts/room.c \
        's/return s->only_ends ? s->turns/return s->turns ? s->turns/' \
        'each stage apart from the ends holds a main layer'
    plant filling-first-group layouts/crossing.c \
        's/g < s->group_count \&\& must; g++/g < 1 \&\& must; g++/' \
        'what does not fit on the first group fits on none'
    plant filling-main-before layouts/bound.c \
        's/larger(others \* s->fill_ns,/larger(others * s->fill_main_ns,/' \
        'each stage before the rank holds a main layer'
    plant filling-main-drains layouts/bound.c \
        's/larger(others \* s->drain_ns,/larger(others * s->drain_main_ns,/' \
        'the way back goes through a main layer of each stage'
    plant filling-others-alone layouts/sketch.c \
        's/(p->runs\[main\].recomputable || !p->runs\[r\].recomputable)/true/' \
        'others cannot be recomputed where main layers cannot'
    plant filling-ends-keep layouts/room.c \
        's/kept \* smaller(stash\[0\], smaller(stash\[1\], stash\[2\]))/kept * stash[0]/' \
        'the first and the last layer are never recomputed'
    plant bound-main-forced space/memory.c \
        's/return s->only_ends ? s->p->turns/return s->p->turns ? s->p->turns/' \
        'each stage apart from the ends holds a main layer'
    plant bound-first-group space/across.c \
        's/for (int g = 0; g < s->group_count; g++)/for (int g = 0; g < 1; g++)/' \
        'what does not fit on the first group fits on none'
    plant bound-main-before space/bound.c \
        's/s->fill_first, s->fill, layers/s->fill_first, s->fill_main, layers/' \
        'each stage before the rank holds a main layer'
    plant bound-main-drains space/bound.c \
        's/s->drain_first, s->drain, layers/s->drain_first, s->drain_main, layers/' \
        'the way back goes through a main layer of each stage'
    plant bound-others-alone space/sketch.c \
        's/if (p->runs\[r\].recomputable \&\& !main_again) s->others = 0;/;/' \
        'others cannot be recomputed where main layers cannot'
    plant bound-ends-keep space/memory.c \
        's/held \* smaller(end->stash\[0\], smaller(end->stash\[1\], .*/held * end->stash[0];/' \
        'the first and the last layer are never recomputed'
    # ---- verify: what a plan states, and parts that it leaves out
    bed=test_keys
    plant judged-copies judge/copies.c 's/if (found < own || found > own)/if (found < 0 * own)/' \
        'what is written for people needs no judge'
    plant judged-name judge/stated.c 's/if (strcmp(p->name, s->problem->name))/if (0)/' \
        'a plan by the hash of its problem has its name'
    plant judged-outcome judge/verify.c \
        's/if (p->outcome == OUTCOME_OPEN && open <= allowed/if (0 \&\& open <= allowed/' \
        'an open gap may be said of a plan that has none'
    plant absent-part text/json.c \
        's/(struct json){NULL, object->file, child_path(.*$/(struct json){0};/' \
        'a part that is missing has no place'
    # ---- tensor grids: laws, and the other side, find these
    bed=test_price_grids
    plant grid-attention-split formulate/price/work.c \
        's/(x->q + x->ctx) \/ x->t1;/(x->q + x->ctx) \/ (x->t1 * x->t2);/' \
        'the ranks of the axis of the depth share the attention out'
    plant grid-lone-rings formulate/price/links.c \
        's/leaves, lengths\[axis\], before, false)/leaves, lengths[axis], 1, false)/' \
        'a ring of any axis has the cards of its node to itself'
    bed=test_price_judge
    plant grid-kept-whole formulate/price/grid.c \
        's/LAYER_EMBEDDING) to.gather_back_s/LAYER_BLOCK) to.gather_back_s/' \
        'what was gathered forward is still there on the way back'
    bed=test_grids
    plant grid-two-axes checker/space/walk.c \
        '/for (int third = 1; third <= tensor; third++)/s/<= tensor/< tensor/' \
        'no grid has all its ranks on the third axis'
    # ---- towers: what they cost is what a model of their own would, or by hand, or by the judge
    bed=test_price_towers
    plant tower-one-piece formulate/price/pricing.c 's/ \* (real)(pieces ? pieces : 1);/ * 1;/' \
        'a sequence brings one image, whatever the pieces'
    plant tower-model-norms formulate/price/attention.c \
        's/shape_norms(x->shape)/shape_norms(\&x->problem->model.shape)/' \
        'a tower has the norms of the model behind it'
    plant tower-message-width formulate/price/memory.c \
        's/? (real)run->projector.outputs : x->h;/? x->h : x->h;/' \
        'behind a projector tokens are as wide as before it'
    plant tower-inputs-summed formulate/price/communication.c \
        's/slice->tokens \* (real)p->inputs \* x->e/slice->tokens * (real)p->outputs * x->e/' \
        'tensor ranks sum as much on the way back as on the way there'
    bed=test_price_judge
    plant tower-judged-sequences judge/price/own.c \
        's/own->audit.sequences = sequences;/own->audit.sequences = whole->sequences;/' \
        'the judge sees the scores of one image of a sequence'
    # ---- tensor collectives beside the products
    plant beside-across-nodes formulate/price/communication.c \
        's/x->t > 1 \&\& tensor->intra \&\& run/x->t > 1 \&\& run/' \
        'chunks go round beside the products over the network, too'
    plant beside-any-job judge/price/talk.c \
        's/a->problem->job.overlapped_tensor \&\& \(layout_of(a)->sequence_parallel\)/\1/' \
        'the judge takes every sequence-parallel job to pass chunks beside the products'
    bed=test_check_space
    plant tower-context checker/space/walk.c \
        '/if (s->tower && l->value\[KEY_CONTEXT\] > 1)/s/> 1)/> 64)/' \
        'context ranks take a tower as any model'
    plant tower-same-messages checker/prices/prices.c \
        's/return values_sent(x, r) == values_sent(x, q) \&\&/return values_sent(x, r) >= 0 \&\&/' \
        'messages as wide are as long'
    # ---- pools and weights that layers share, frozen layers in few bits: prices of planner, judge
    # and checker
    bed=test_exact_decisions
    plant pool-of-a-stage formulate/price/links.c \
        's/return run->pool.shared ? x->D \* x->p : x->D;/return x->D;/' \
        'a pool that layers share lies on one stage'
    plant weights-of-a-stage formulate/price/memory.c 's/x->R \* x->p) + step_s/x->R) + step_s/' \
        'weights that layers share are summed over the replicas of one stage'
    plant bits-without-scales formulate/price/memory.c \
        's/run->weight_bits \/ 8.0L + 2.0L \/ 128 :/run->weight_bits \/ 8.0L :/' \
        'values in few bits have no scales'
    plant pool-judged-alone judge/price/link.c \
        's/return r->pool.shared ? a->devices \* a->pipeline : a->devices;/return a->devices;/' \
        'the judge sees a pool on one stage'
    plant weights-judged-alone judge/price/weight.c \
        's/^\( *\)a->ranks \* a->pipeline);/\1a->ranks);/' \
        'the judge sums shared weights over the replicas of one stage'
    plant bits-judged-without-scales judge/price/weight.c \
        's/(16 \* r->weight_bits + 2) \/ 128.0L/r->weight_bits \/ 8.0L/' \
        'the judge sees no scales'
    plant pool-checked-apart checker/prices/prices.c \
        's/= note(x, constant_bytes_of(a, g));/= 0 * note(x, constant_bytes_of(a, g));/' \
        'nothing lies on a device beside its layers'
    plant weights-checked-free checker/prices/prices.c \
        '/? 0 : note(x, sync_constant_ns(&x->price_audit, g));/s/0 : note/0 : 0 * note/' \
        'a stage takes nothing beside its layers'
    plant bits-checked-whole checker/prices/prices.c 's/note(x, b.weight)/note(x, b.gradient)/' \
        'weights are held as their gradients are'
    # ---- the fused embedding sync on nodes: enumeration, the judge, the checker
    bed=test_placed
    plant fused-first-stages solve/places/embedding.c \
        's/\(members\[p->replicas + r\] = node\[r \* p->ranks\) + last\];/\1];/' \
        'the ring goes through the first stages alone'
    plant fused-both-links priced/places.c \
        's/PRICE_NONE : larger(in, out);/PRICE_NONE : in + out;/' \
        'the links into a node and out of it are gone over one after the other'
    plant fused-judged-open judge/places.c \
        's/if (\(from == to \&\& leaves\)) continue;/if (at + 1 == count || (\1)) continue;/' \
        'the ring that the judge sees does not close'
    # ---- a rank alone sends nothing: nodes that nothing joins, on which a transfer would have a
    # cost
    plant alone-judged-sending judge/graph.c \
        's/if (a->joints \&\& from == to) return;/if (a->joints \&\& from > to) return;/' \
        'a rank on a node sends to itself'
    bed=test_layouts
    plant refused-whatever-shared layouts/work.c \
        's/if (!model_shared_pool(m) \&\& !model_shares_weights(m)) x.zero/if (m) x.zero/' \
        'no refusal depends on the barrier or on ZeRO'
    bed=test_check_places
    plant fused-two-ranks formulate/price/sync.c \
        's/sums_fused_embeddings(x) ? 2 \* x->R : 2);/sums_fused_embeddings(x) ? 2 : 2);/' \
        'a fused sync is one of two ranks'
    plant fused-worst-links checker/places/embedding.c \
        's/return a < b ? a : b;/return a > b ? a : b;/' \
        'of what the ring may come in over the worst counts'
    # ---- what has no bytes, and degrees that leave devices idle
    bed=test_verify_price
    plant empty-message-free formulate/price/transfers.c \
        's/size_s += x->problem->costs.transfer_launch_s.value;/if (bytes > 0) &/' \
        'nobody sends an empty message'
    bed=test_check_space
    plant idle-divides inputs/space.c \
        's/if (w->space->fewer_devices) return/& w->limits->devices % used == 0 \&\&/' \
        'what leaves devices idle divides them'
    plant idle-checked-divides checker/space/walk.c \
        's/if (w->s->fewer_devices) return left >= 1;/if (w->s->fewer_devices) return exact;/' \
        'the checker takes what leaves devices idle to divide them'
    # ---- laws of a priced document's integers
    bed=test_raise_laws
    plant queued-sync-hides formulate/choices/evaluate.c \
        's/? group->sync_constant_ns\[x->gradient_option\] + walk.sync_ns/& * 0 + walk.tail_ns/' \
        'a sync that waits for another one still hides behind its own gradients'
    plant tail-of-first-layer formulate/choices/evaluate.c \
        's/w->sync_ns - w->backward_behind_ns - (count - 1) \* backward_ns);/0);/' \
        'of like layers the first one in the walk has the longest tail'
    # ---- everything ends
    bed=test_ends
    plant refit-without-measure boxes/memory.c \
        's/return then.over_bytes < f->over_bytes;/return then.over_bytes <= INT64_MAX;/' \
        'what frees bytes at the fullest moment brings a rank nearer to its limit'
    bed=test_supervise
    plant kept-bound-falls process/supervise.c \
        's/if (own \&\& bound_ns > own->bound_ns)/if (own)/' \
        'the last bound that is stated is the best'
    bed=test_quality
    plant second-search-unseen commands/quality.c \
        's/plan_effort_add(&plan->effort, &found.effort);/(void)found;/' \
        'the search for the least quality cost is no effort'
    # ---- laws of a time
    bed=test_price_laws
    plant stream-of-one-sync judge/streams.c \
        's/sync = judged_later(sync, h->sync_work_ns\[stage\]);/sync = h->sync_work_ns[stage];/' \
        'the sync stream of a rank has the work of one stage'
    plant queued-sync-again formulate/choices/together.c \
        's/\(SYMBOL_QUEUED_SYNC, stage)\] = x->\)queued_sync_ns;/\1sync_ns;/' \
        'a stage hides as much of its sync, however late the stream comes to it'
    bed=test_claims
}

fail() { echo "planted: $*" >&2; exit 1; }

# The sources as they stand.
copy_tree() {
    rm -rf "$folder"
    mkdir -p "$tree"
    tar -cf - --exclude=./build --exclude=./bin --exclude=./.git . | tar -xf - -C "$tree" ||
        fail "cannot copy the sources to $tree"
}

# The program, and the command that it asks.
build() {
    make -C "$tree" --no-print-directory -j"$jobs" BUILD=release CFLAGS="$asserts_off" \
        bin/plumbline "$out/tests/$bed" > "$folder/build.log" 2>&1 ||
        { cat "$folder/build.log" >&2; fail "$1: does not build"; }
    mkdir "$tree/bin-$1" && cp "$tree/bin/plumbline" "$tree/$out/tests/$bed" "$tree/bin-$1"
    echo "$1" >> "$folder/built"
}

# The file's name in file, what the plant makes of it in planted.c.
apply() {
    file=$(find . -path ./build -prune -o -path "*/$2" -print)
    [ -f "$file" ] || { echo "planted: $1: no file, or several, at */$2" >&2; return 1; }
    sed "$3" "$file" > "$folder/planted.c"
    [ "$(diff "$file" "$folder/planted.c" | grep -c '^[<>]')" = 2 ] ||
        { echo "planted: $1: no longer applies: it must change one line of $file" >&2; return 1; }
}

plant() {
    case " $only " in "  " | *" $1 "*) ;; " --apply ") apply "$@" ||
        stale=1; return 0 ;; *) return 0 ;; esac
    apply "$@" || exit 1
    cp "$folder/planted.c" "$tree/$file"
    build "$1"
    cp "$file" "$tree/$file"
    printf '%-28s %s\n' "$1" "$4"
}

# A test of something else than claims: it fails at one of its own questions, not at an assert of
# the program's.
judge_law() {
    (cd "$tree" && BIN=bin-$1 "bin-$1/$2") > "$log" 2>&1
    status=$? told=$(sed -n 's/^\[  FAILED  \] \([a-z_]*\)$/\1/p' "$log" | sort -u | tr '\n' ' ')
    took="$(($(date +%s) - begun)) s"
    if [ "$status" != 0 ] && [ -n "$told" ]; then echo "found   $1 ($took): $told"
    else echo "FAILED  $1 ($took): exit $status; see $log"; fi
}

# One program's run: the claims above the truth that it tells of, by kinds. It may be stopped after
# some of them, by a plan that the judge of the planted program refuses.
judge() {
    begun=$(date +%s) log=$folder/$1.log
    for law in "$tree/bin-$1"/test_*; do
        law=${law##*/}
        [ "$law" = test_claims ] || { judge_law "$1" "$law"; return; }
    done
    (cd "$tree" && BIN=bin-$1 "bin-$1/test_claims" "$problems") > "$log" 2>&1
    status=$?
    told=$(sed -n 's/^seed [0-9]*: \(.*\): claimed .*, true .*/\1/p' "$log" |
        sort | uniq -c |
        awk '{ n = $1; $1 = ""; printf "%s%s %d", sep, substr($0, 2), n; sep = ", " }')
    took="$(($(date +%s) - begun)) s"
    if [ "$1" = nothing-planted ] && [ "$status" = 0 ] && [ -z "$told" ]; then
        echo "passed  $1 ($took): nothing above the truth"
    elif [ "$1" != nothing-planted ] && [ "$status" != 0 ] && [ -n "$told" ]; then
        echo "found   $1 ($took): $told"
    else
        echo "FAILED  $1 ($took): exit $status, above the truth: ${told:-nothing}; see $log"
    fi
}

if [ "${1:-}" = --judge ]; then
    judge "$2"
    exit
fi
only=$* bed=test_claims
if [ "$only" = --apply ]; then
    folder=$(mktemp -d) stale=0
    plants
    rm -rf "$folder"
    exit $stale
fi
copy_tree
build nothing-planted
plants
[ $# = 0 ] || [ $(($# + 1)) = "$(wc -l < "$folder/built")" ] || fail "an unknown name: $*"
xargs -P "$jobs" -n 1 sh "$0" --judge < "$folder/built" | tee "$folder/results"
found=$(grep -c '^found' "$folder/results") failed=$(grep -c '^FAILED' "$folder/results")
echo "$found errors found, $failed failed"
grep -q '^passed' "$folder/results" && [ "$failed" = 0 ] &&
    [ $((found + 1)) = "$(wc -l < "$folder/built")" ]
