// What a row does not state: each trait is what its program did at the time on its GPU
// (data/frameworks/defaults.h); what remains open is priced as well and widens the range, as one
// more cause that is independent of the others (docs/FORMULAS.md 19).
#include "data/base/names.h"
#include "formulate/predict/internal.h"

// ---- cells

// The cell of a trait that is a whole number; NULL: it is an enum or has a meaning of its own.
static int64_t *whole_cell(struct run_row *row, enum trait trait)
{
    switch (trait) {
    case TRAIT_GATED: return &row->gated;
    case TRAIT_RMS_NORM: return &row->rms_norm;
    case TRAIT_TIED: return &row->tied;
    case TRAIT_DROPOUT: return &row->dropout;
    case TRAIT_BIAS: return &row->bias;
    case TRAIT_SEQUENCE_PARALLEL: return &row->sp;
    case TRAIT_ZERO: return &row->zero;
    case TRAIT_GRADIENT_BYTES: return &row->gradient_bytes;
    case TRAIT_OVERLAP: return &row->overlap;
    case TRAIT_OVERLAP_MESSAGES: return &row->overlap_messages;
    case TRAIT_OVERLAP_TENSOR: return &row->overlap_tensor;
    case TRAIT_OVERLAP_INPUT_GRADIENTS: return &row->overlap_input_gradients;
    case TRAIT_COMPILED: return &row->compiled;
    case TRAIT_WHOLE_SUMS: return &row->whole_gradient_sums;
    case TRAIT_OWNER_BROADCASTS: return &row->owner_broadcasts;
    case TRAIT_FIXED_CAPACITY: return &row->fixed_capacity;
    case TRAIT_OVERLAP_DISPATCH: return &row->overlap_dispatch;
    case TRAIT_FUSED_LOSS: return &row->fused_loss;
    case TRAIT_KEPT_LOGITS: return &row->kept_logits;
    case TRAIT_LOSS_IN_PLACE: return &row->loss_in_place;
    case TRAIT_STOPPED_RECOMPUTE: return &row->stopped_recompute;
    default: return NULL;
    }
}

int row_trait(const struct run_row *row, enum trait trait)
{
    const int64_t *whole = whole_cell((struct run_row *)row, trait);
    if (whole) return (int)*whole;
    switch (trait) {
    case TRAIT_LEARNED_POSITIONS:
        return row->positions == NOT_STATED ? NOT_STATED : row->positions > 0;
    case TRAIT_PRECISION: return row->precision;
    case TRAIT_ATTENTION: return row->fused;
    case TRAIT_RECOMPUTE: return row->recompute;
    case TRAIT_DISPATCHER: return row->dispatcher;
    case TRAIT_EXPERT_PRODUCTS: return row->expert_products;
    case TRAIT_GRAPHS: return row->graphs;
    case TRAIT_CONTEXT_KIND: return row->context_kind;
    default: return row->unfused;
    }
}

void row_set_trait(struct run_row *row, enum trait trait, int value)
{
    int64_t *whole = whole_cell(row, trait);
    if (whole) *whole = value;
    else if (trait == TRAIT_LEARNED_POSITIONS) row->positions = value > 0 ? row->seq : 0;
    else if (trait == TRAIT_PRECISION) row->precision = value;
    else if (trait == TRAIT_ATTENTION) row->fused = value;
    else if (trait == TRAIT_RECOMPUTE) row->recompute = value;
    else if (trait == TRAIT_DISPATCHER) row->dispatcher = value;
    else if (trait == TRAIT_EXPERT_PRODUCTS) row->expert_products = value;
    else if (trait == TRAIT_GRAPHS) row->graphs = value;
    else if (trait == TRAIT_CONTEXT_KIND) row->context_kind = value;
    else row->unfused = value;
}

// ---- what is known

static bool same_sheet(const struct data_sheet *a, const struct data_sheet *b)
{
    return !memcmp(a->peak, b->peak, sizeof a->peak) &&
           a->memory_bytes_per_s == b->memory_bytes_per_s && a->processors == b->processors &&
           a->clock_hz == b->clock_hz && a->exponentials_per_clock == b->exponentials_per_clock &&
           a->power_w == b->power_w;
}

// The GPU in whose years a row is. One that only a data sheet describes: a known one with the same
// sheet, else the one whose costs it has.
static struct cell gpu_of_years(const struct predictor *p, struct cell gpu)
{
    const struct costs *c = &p->costs;
    const struct data_sheet *own = NULL;
    const char *like = NULL;
    for (int i = 0; i < c->data_sheet_count && !gpu_has_years(gpu); i++)
        if (name_is_gpu(gpu.text, (size_t)gpu.length, c->data_sheets[i].gpu))
            own = &c->data_sheets[i], like = own->like;
    for (int i = 0; own && i < c->data_sheet_count; i++) {
        const char *other = c->data_sheets[i].gpu;
        bool known = gpu_has_years((struct cell){other, (int)strlen(other)});
        if (known && same_sheet(own, &c->data_sheets[i])) like = other;
    }
    return like ? (struct cell){like, (int)strlen(like)} : gpu;
}

static const struct run_origin *origin_of(struct predictor *p, const struct run_row *row)
{
    struct cell gpu = predict_gpu(p, row->gpu);
    for (int i = 0; i < ORIGINS_KEPT; i++) {
        struct known_origin *k = p->origin = &p->origins[i];
        if (k->gpu.text && same_text(k->framework, row->framework) &&
            same_text(k->version, row->version) && same_text(k->source, row->origin) &&
            same_text(k->gpu, gpu) && k->trainer == row->trainer)
            return &k->origin;
    }
    struct known_origin *k = p->origin = &p->origins[p->origin_next];
    p->origin_next = (p->origin_next + 1) % ORIGINS_KEPT;
    *k = (struct known_origin){row->framework,
                               row->version,
                               row->origin,
                               gpu,
                               row->trainer,
                               run_origin_of(row->framework, row->version, row->origin,
                                             gpu_of_years(p, gpu), row->trainer)};
    return &k->origin;
}

static int64_t degree(int64_t value) { return value == NOT_STATED ? 1 : value; }

// Replicas: data x context ranks.
static int64_t replicas_of(const struct run_row *row)
{
    int64_t context = degree(row->cp);
    if (row->dp != NOT_STATED) return row->dp * context;
    return row->num_gpus == NOT_STATED ? context
                                       : row->num_gpus / (degree(row->tp) * degree(row->pp));
}

// Megatron's kind is told a batch, over which it accumulates gradients. torchtitan's, unless told
// (training.global_batch_size -1), is a micro-batch of each replica, in a pipeline one per stage.
static bool accumulates_nothing(const struct run_row *row)
{
    int64_t sequences = degree(row->micro_batch) * replicas_of(row) / degree(row->cp);
    return row->micro_batch != NOT_STATED && row->global_batch == sequences * degree(row->pp);
}

// No published set that shows how far a program is off has layers of states (Mamba, linear
// attention).
static bool has_states(const struct model *m)
{
    bool states = false;
    for (int i = 0; i < m->run_count; i++) states |= run_has_linear(&m->runs[i]);
    return states;
}

// By the habits of its kind, where nothing names it.
static void recognise(struct run_origin *o, const struct run_row *row)
{
    if (o->program != PROGRAM_UNKNOWN || o->date < 202401 || row->experts != NOT_STATED ||
        replicas_of(row) < 2 || !accumulates_nothing(row))
        return;
    o->program = PROGRAM_TORCHTITAN;
}

// What prose says, where the user has it read.
static void take_words(struct run_row *row, const struct row_words *w)
{
    if (!row->framework.length && w->deepspeed)
        row->framework = cell_contains(row->notes, "Megatron-DeepSpeed")
                             ? (struct cell){"megatron-deepspeed", 18}
                             : (struct cell){"deepspeed", 9};
    if (row->gated == NOT_STATED && w->gated) row->gated = 1;
    if (row->rms_norm == NOT_STATED && w->rms_norm) row->rms_norm = 1;
    if (row->tied == NOT_STATED && w->untied) row->tied = 0;
    if (row->precision == NOT_STATED) row->precision = w->precision;
    if (row->overlap == NOT_STATED && w->overlapped) row->overlap = 1;
    if (row->gradient_bytes == NOT_STATED && w->wide_sums) row->gradient_bytes = 4;
    if (row->fused_loss == NOT_STATED && w->fused_loss) row->fused_loss = 1;
}

static void find_facts(struct run_facts *f, const struct run_row *row, const struct row_words *w,
                       const struct run_origin *origin, const struct model *named)
{
    static const char *const names[] = {"", "llama", "nemotron-4"};
    struct cell family = {names[w->family], (int)strlen(names[w->family])};
    *f = (struct run_facts){.origin = *origin,
                            .model = row->model.length ? row->model : family,
                            .mixture = row->experts != NOT_STATED ||
                                       (named && model_has_experts(named)),
                            .spread = degree(row->ep) > 1,
                            .latent = row->kv_rank > 0 || (named && named->shape.kv_rank > 0),
                            .hidden = row->hidden,
                            .ffn = row->ffn,
                            .vocab = row->vocab,
                            .tensor = degree(row->tp),
                            .context = degree(row->cp),
                            .pipeline = degree(row->pp),
                            .chunks = degree(row->vpp),
                            .replicas = replicas_of(row)};
    for (int i = 0; i < TRAIT_COUNT; i++) f->values[i] = row_trait(row, (enum trait)i);
}

static void fill(struct run_row *filled, const struct run_row *row,
                 const struct run_default traits[TRAIT_COUNT])
{
    *filled = *row;
    for (int i = 0; i < TRAIT_COUNT; i++)
        if (traits[i].assumed) row_set_trait(filled, (enum trait)i, traits[i].value);
    // Only where the stated trainer may.
    bool own = row->trainer == NOT_STATED || row->trainer == TRAINER_OTHER;
    if (traits[TRAIT_WHOLE_SUMS].assumed && (!own || row->gradient_rank > 0))
        filled->whole_gradient_sums = 0;
}

// ---- predicting

static bool is_overfull(const struct prediction *x)
{
    return (double)x->device_bytes > 1.15 * (double)x->capacity_bytes;
}

// The prices stay for the next row, which may have them as well.
static void predict_filled(struct predictor *p, const struct run_row *row, enum predicted what,
                           struct prediction *prediction)
{
    memset(prediction, 0, sizeof *prediction);
    if (what != PREDICT_PLACED) arena_reset(p->scratch, p->scratch_mark);
    if (predict_set_up(p, row, prediction)) predict_once(p, &p->costs, what, prediction);
}

// Another such mode of all layers leaves all prices as they are.
static bool is_priced_anyway(int recompute)
{
    return recompute >= RECOMPUTE_NONE && recompute <= RECOMPUTE_FULL;
}

// Of what only memory decides, the first with which it fits; none does: the one with the fewest
// bytes, and the next trait. Predicted bytes are themselves off by a tenth and more, so near the
// capacity the others remain open. True: others were tried.
static bool choose_by_memory(struct predictor *p, struct run_facts *facts,
                             struct run_default traits[TRAIT_COUNT], struct run_row *filled,
                             struct prediction *prediction)
{
    bool tried_others = false, priced = true; // as *filled, but for what it recomputes
    for (int i = 0; i < TRAIT_COUNT; i++) {
        struct run_default *t = &traits[i];
        if (!t->assumed || !t->by_memory || *prediction->reason) continue;
        unsigned open = t->open, first = 1U << t->value;
        double full = (double)prediction->device_bytes / (double)prediction->capacity_bytes;
        for (int value = 0; value < 8 && is_overfull(prediction); value++) {
            struct run_row other = *filled;
            struct prediction tried;
            if (!(open >> value & 1)) continue;
            row_set_trait(&other, (enum trait)i, value);
            bool alike = i == TRAIT_RECOMPUTE && is_priced_anyway(value) &&
                         is_priced_anyway(filled->recompute);
            predict_filled(p, &other, priced && alike ? PREDICT_PLACED : PREDICT_ALL, &tried);
            tried_others = true;
            priced = priced && alike;
            if (*tried.reason || tried.device_bytes >= prediction->device_bytes) continue;
            t->value = value;
            *filled = other, *prediction = tried;
            priced = true;
        }
        t->open = full > 1 ? (open | first) & ~(1U << t->value) : 0;
        facts->values[i] = t->value; // with whatever else is tried
    }
    return tried_others;
}

// All that defaults read of facts that name no model: of numbers, what these decide
// (data/frameworks).
static bool key_of(struct run_facts *key, const struct run_facts *f)
{
    if (f->model.length) return false;
    memcpy(key, f, sizeof *key);
    key->hidden = 0;
    key->ffn = f->ffn == NOT_STATED || f->ffn == 4 * f->hidden;
    key->vocab = f->vocab == 256000;
    key->tensor = f->tensor > 8 ? 9 : f->tensor > 4 ? 5 : f->tensor > 1 ? 2 : 1;
    key->context = f->context > 1, key->pipeline = f->pipeline > 1 ? 2 : f->pipeline;
    key->chunks = f->chunks > 1, key->replicas = f->replicas > 1;
    return true;
}

static void find_defaults(struct predictor *p, struct run_default traits[TRAIT_COUNT],
                          const struct run_facts *facts)
{
    struct run_facts key;
    if (!key_of(&key, facts)) {
        run_defaults(traits, facts);
        return;
    }
    struct known_defaults *known = p->defaults;
    while (known < p->defaults + DEFAULTS_KEPT && memcmp(&known->key, &key, sizeof key)) known++;
    if (known == p->defaults + DEFAULTS_KEPT) {
        known = &p->defaults[p->defaults_next++ % DEFAULTS_KEPT];
        known->key = key;
        run_defaults(known->traits, facts);
    }
    memcpy(traits, known->traits, sizeof known->traits);
}

// A row with all that it does not state found anew, by facts of another program or value.
static void predict_anew(struct predictor *p, const struct run_row *row, struct run_facts *facts,
                         struct prediction *x)
{
    struct run_default traits[TRAIT_COUNT];
    struct run_row filled;
    for (int i = 0; i < TRAIT_COUNT; i++) facts->values[i] = row_trait(row, (enum trait)i);
    find_defaults(p, traits, facts);
    fill(&filled, row, traits);
    predict_filled(p, &filled, PREDICT_ALL, x);
    choose_by_memory(p, facts, traits, &filled, x);
}

// Scores of unfused attention that no card holds, whatever is recomputed, with states sharded as
// such code does or as was taken, are no case of what ran.
static bool overfills(struct predictor *p, const struct run_row *row, const struct run_facts *facts,
                      enum trait trait, int value, int taken_zero)
{
    struct run_row own = *row;
    bool over = trait == TRAIT_ATTENTION && value == UNFUSED_ATTENTION;
    row_set_trait(&own, trait, value);
    for (int as_taken = 0; over && as_taken < 1 + (row->zero == NOT_STATED); as_taken++) {
        struct run_facts other = *facts;
        struct prediction x;
        if (as_taken) own.zero = taken_zero;
        predict_anew(p, &own, &other, &x);
        over = !*x.reason && is_overfull(&x);
    }
    return over;
}

// Whether the program, with that ZeRO stage, overlaps sums as the row states.
static bool overlaps_so(struct predictor *p, const struct run_facts *facts, int zero)
{
    struct run_facts own = *facts;
    struct run_default traits[TRAIT_COUNT];
    int overlap = facts->values[TRAIT_OVERLAP];
    own.values[TRAIT_ZERO] = zero, own.values[TRAIT_OVERLAP] = NOT_STATED;
    find_defaults(p, traits, &own);
    const struct run_default *t = &traits[TRAIT_OVERLAP];
    return overlap == NOT_STATED || t->value == overlap || (t->open >> overlap & 1);
}

// The times with a trait's other values. What follows from it changes with it.
static void price_open(struct predictor *p, const struct run_row *row,
                       const struct run_facts *facts, enum trait trait,
                       struct prediction *prediction)
{
    struct assumption *a = &prediction->assumptions[trait];
    int64_t ns = prediction->iteration_ns;
    for (int value = 0; value < 8; value++) {
        struct run_facts other = *facts;
        struct run_default traits[TRAIT_COUNT];
        struct run_row filled;
        struct prediction x;
        if (!(a->taken.open >> value & 1)) continue;
        int zero = prediction->assumptions[TRAIT_ZERO].taken.value;
        if (!is_overfull(prediction) && overfills(p, row, facts, trait, value, zero)) continue;
        if (trait == TRAIT_ZERO && overlaps_so(p, facts, zero) && !overlaps_so(p, facts, value))
            continue; // that the row's own words exclude
        other.values[trait] = value;
        find_defaults(p, traits, &other);
        fill(&filled, row, traits);
        for (int i = 0; i < TRAIT_COUNT; i++)
            if (!traits[i].assumed) row_set_trait(&filled, (enum trait)i, traits[i].value);
        predict_filled(p, &filled, PREDICT_TIME, &x);
        if (*x.reason) continue;
        if (!a->low_ns) a->low_ns = a->high_ns = ns;
        if (x.iteration_ns < a->low_ns) a->low_ns = x.iteration_ns;
        if (x.iteration_ns > a->high_ns) a->high_ns = x.iteration_ns;
    }
}

static bool any_open(const struct run_default traits[TRAIT_COUNT])
{
    for (int i = 0; i < TRAIT_COUNT; i++)
        if (traits[i].assumed && traits[i].open) return true;
    return false;
}

// Replicas of which nothing names the program: it may be one of PyTorch's own sharding, as
// torchtitan is, and then it does otherwise in everything at once.
static bool may_be_pytorch(const struct run_facts *f)
{
    return f->origin.program == PROGRAM_UNKNOWN && !f->mixture && f->tensor * f->pipeline == 1;
}

// 0: it could not run this.
static int64_t as_pytorch_ns(struct predictor *p, const struct run_row *row,
                             const struct run_facts *facts)
{
    struct run_facts other = *facts;
    struct run_row own = *row;
    struct prediction x;
    other.origin.program = PROGRAM_TORCHTITAN;
    own.trainer = (int)program_trainer(PROGRAM_TORCHTITAN);
    predict_anew(p, &own, &other, &x);
    return *x.reason ? 0 : x.iteration_ns;
}

// Widens the range by what remains open.
static void widen(struct predictor *p, const struct run_row *row, const struct run_facts *facts,
                  struct prediction *prediction)
{
    struct range range = p->range;
    if (may_be_pytorch(facts)) {
        int64_t ns = as_pytorch_ns(p, row, facts);
        if (ns) range_add_joint_case(&range, ns);
    }
    for (int i = 0; i < TRAIT_COUNT; i++) {
        struct assumption *a = &prediction->assumptions[i];
        if (!a->taken.assumed || !a->taken.open) continue;
        price_open(p, row, facts, (enum trait)i, prediction);
        if (!a->low_ns) continue;
        range_add_case(&range, COSTS_FAST, a->low_ns);
        range_add_case(&range, COSTS_SLOW, a->high_ns);
    }
    p->range = range;
    predict_put_range(p, prediction);
}

void predict_row(struct predictor *p, const struct run_row *stated, struct prediction *prediction)
{
    struct run_default traits[TRAIT_COUNT];
    struct run_facts facts;
    struct run_row row = *stated, filled;
    memset(prediction, 0, sizeof *prediction);
    if (*row.misread) {
        predict_refuse(prediction, "%s", row.misread);
        return;
    }
    predict_read_words(&p->words, &row);
    take_words(&row, &p->words);
    struct run_origin origin = *origin_of(p, &row);
    const struct model *named = predict_named_model(p, row.model);
    if (!named || !model_has_experts(named)) recognise(&origin, &row);
    if (row.trainer == NOT_STATED)
        row.trainer = (int)(origin.deepspeed ? TRAINER_DEEPSPEED : program_trainer(origin.program));
    find_facts(&facts, &row, &p->words, &origin, named);
    bool whole = row.lora_rank <= 0 && !(named && has_states(named));
    p->shown = (struct shown_runs){whole ? program_shown(&facts) : 0, program_host(&origin),
                                   facts.mixture};
    find_defaults(p, traits, &facts);
    for (int i = 0; i <= TRAIT_LEARNED_POSITIONS && named; i++)
        traits[i].assumed = false; // the model says
    fill(&filled, &row, traits);
    predict_filled(p, &filled, PREDICT_ALL, prediction);
    bool others = choose_by_memory(p, &facts, traits, &filled, prediction);
    if (others && p->settings.ranges) predict_filled(p, &filled, PREDICT_ALL, prediction);
    predict_range(p, prediction);
    prediction->origin = origin;
    if (*prediction->reason) return;
    for (int i = 0; i < TRAIT_COUNT; i++) prediction->assumptions[i].taken = traits[i];
    bool open = p->settings.ranges && any_open(traits);
    if (open) widen(p, &row, &facts, prediction);
    if (open || others) predict_set_up(p, &filled, prediction); // the row's problem again
}

// ---- telling

double prediction_launches_share(const struct prediction *x)
{
    const double least = 0.05;
    if (x->assumptions[TRAIT_GRAPHS].taken.value == GRAPHS_STEP) return 0;
    double share = x->iteration_ns > 0 ? (double)x->launched_ns / (double)x->iteration_ns - 1 : 0;
    return share >= least ? share : 0;
}

double assumption_width(const struct assumption *a)
{
    return a->low_ns > 0 ? log((double)a->high_ns / (double)a->low_ns) : 0;
}

const char *prediction_assumed(const struct prediction *x, struct arena *arena)
{
    const char *list = "";
    bool told[TRAIT_COUNT] = {false};
    for (int next = 0; next < TRAIT_COUNT;) {
        const struct assumption *a = x->assumptions;
        next = TRAIT_COUNT;
        for (int i = 0; i < TRAIT_COUNT; i++) {
            if (told[i] || !a[i].taken.assumed || !*a[i].taken.why) continue;
            if (i > TRAIT_GATED && i <= TRAIT_LEARNED_POSITIONS) continue; // they follow the gate
            if (next == TRAIT_COUNT || assumption_width(&a[i]) > assumption_width(&a[next]))
                next = i;
        }
        if (next == TRAIT_COUNT) break;
        told[next] = true, a += next;
        const char *word = arena_print(arena, "%s %s", trait_columns[next],
                                       trait_value_text((enum trait)next, a->taken.value));
        if (a->low_ns)
            word = arena_print(arena, "%s (unknown: %.4g to %.4g s)", word,
                               (double)a->low_ns * 1e-9, (double)a->high_ns * 1e-9);
        list = arena_print(arena, "%s%s%s", list, *list ? ", " : "", word);
    }
    return list;
}
