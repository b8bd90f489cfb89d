# plumbline: make, make demo, make test, make test-asan, make test-planted, make bench, make costs,
# make layers, make trusted, make setup, make man, make install PREFIX=, make uninstall, make deb,
# make wheel, make clean. Settings first; everything below follows from the folders.

BUILD  ?= release
# release, debug, asan
PREFIX ?= /usr/local
CC     ?= cc
# V=1 prints whole commands instead of what they make.
Q   = $(if $(V),,@)
SAY = @$(if $(V),:,echo " ")

CFLAGS_release = -O2 -g
CFLAGS_debug   = -O0 -g
CFLAGS_asan    = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all \
    -fno-omit-frame-pointer
WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
    -Wvla -Wno-missing-field-initializers $(WERROR)
# Errors for who works on it with gcc; another compiler's warnings stop no one who builds it.
WERROR = $(if $(and $(wildcard .git),$(findstring gcc,$(CC))$(filter cc,$(CC))),-Werror)
# Of all that goes into the shared library only what library/plumbline.h marks is seen from outside.
CFLAGS_own = -std=c11 -D_POSIX_C_SOURCE=200809L -fPIC -fvisibility=hidden \
    $(WARNINGS) $(CFLAGS_$(BUILD)) -I. -MMD -MP
CFLAGS_all = $(CFLAGS_own) $(BLAS_CFLAGS) $(CFLAGS)

# Where cblas.h is not among the system's own headers.
BLAS_CFLAGS := $(shell pkg-config --cflags openblas 2>/dev/null)

OUT = build/$(BUILD)
ifeq ($(BUILD),release)
BIN = bin
else
BIN = $(OUT)/bin
endif

# Any MPI with headers and a compiler's wrapper; without one, links and collectives cannot be
# measured.
MPI_CFLAGS := $(shell pkg-config --cflags ompi-c 2>/dev/null || \
    mpicc --showme:compile 2>/dev/null || pkg-config --cflags mpich 2>/dev/null)
MPI_LIBS   := $(shell pkg-config --libs ompi-c 2>/dev/null || mpicc --showme:link 2>/dev/null || \
    pkg-config --libs mpich 2>/dev/null)

# CUDA, cuDNN and NCCL, where their headers are found. NVCC=, CUDA_HOME=, CUDA_INCLUDES="-isystem
# ...", CUDA_LDFLAGS="-L..." name them elsewhere; CUDA=no leaves them out. The device's own driver
# is not needed for building.
NVCC      := $(or $(NVCC),$(firstword $(shell command -v nvcc /usr/local/cuda/bin/nvcc \
    /opt/cuda/bin/nvcc 2>/dev/null)))
CUDA_HOME := $(or $(CUDA_HOME),$(if $(NVCC),$(abspath $(dir $(realpath $(NVCC)))..)))
CUDA_INCLUDES ?= -isystem $(CUDA_HOME)/include
CUDA_LDFLAGS  ?= -L$(CUDA_HOME)/lib64 -Wl,-rpath,$(CUDA_HOME)/lib64
cuda_compiles = $(shell echo '\#include <$(1)>' | $(CC) $(CUDA_INCLUDES) -E -o /dev/null - \
    2>/dev/null && echo yes)
CUDA  := $(or $(CUDA),$(if $(NVCC),$(call cuda_compiles,cublasLt.h)))
CUDNN := $(or $(CUDNN),$(if $(CUDA:no=),$(call cuda_compiles,cudnn.h)))
NCCL  := $(or $(NCCL),$(if $(CUDA:no=),$(call cuda_compiles,nccl.h)))
CUDA_ARCHS ?= -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 \
    -gencode arch=compute_90,code=compute_90

LIBS_library = -lglpk -lcjson -lnettle -lm
LIBS_plan    = -lglpk -llapacke -lopenblas -lcjson -lnettle -lm
LIBS_measure = -lopenblas -lcjson -lnettle -lm -lpthread

SETUP = CC="$(CC)" CFLAGS="$(BLAS_CFLAGS) $(CFLAGS)" LDFLAGS="$(LDFLAGS)" sh tests/setup.sh install

# make test and make demo compile on all processors unless -j was given.
JOBS = $(if $(filter -j% %j,$(firstword -$(MAKEFLAGS)) $(filter -j%,$(MAKEFLAGS))),,-j$(shell \
    nproc 2>/dev/null || echo 1))

# ---- what is made of what
sources = $(sort $(shell find $(1) -name '*.c'))
DATA    = $(filter-out data/import/% data/frameworks/%,$(call sources,data))
PLAN    = $(call sources,data formulate solve calibrate) measure/command_measure.c
MEASURE = $(DATA) $(filter-out measure/command_measure.c $(WITH_MPI) $(WITH_CUDA) \
    measure/links/nccl.c,$(call sources,measure))
WITH_MPI = measure/links/mpi.c measure/links/links.c measure/links/collectives.c \
    measure/links/roster.c measure/links/together.c measure/links/assembly.c \
    measure/links/wire.c measure/links/nccl_none.c measure/run.c $(wildcard measure/run/*.c)
WITH_CUDA  = $(filter-out measure/cuda/none.c,$(wildcard measure/cuda/*.c))
CUDA_FUSED = $(or $(and $(CUDNN:no=),$(wildcard \
    measure/cuda/fused_cudnn*.c)),measure/cuda/fused_none.c)
CUDA_PARTS = $(filter-out $(wildcard measure/cuda/fused_*.c),$(WITH_CUDA)) $(CUDA_FUSED)
LIBS_cuda  = $(if $(filter %_cudnn.c,$(CUDA_FUSED)),-lcudnn) -lcublasLt -lcudart_static -lstdc++ \
    -ldl -lrt
VERSION := $(shell sed -n 's/.*PLUMBLINE_VERSION "\(.*\)".*/\1/p' data/base/status.h)
SONAME  = libplumbline.so.0
SHARED  = $(OUT)/lib/libplumbline.so.$(VERSION)
LIBRARY = $(SHARED) $(OUT)/lib/libplumbline.a
SUPPORT = $(call sources,tests/support)
SHIPPED = $(wildcard data/*/*.json data/models/*/*.json data/runs/*.csv data/torch/*.py) LICENSE \
    NOTICE.md
SCRIPTS = $(wildcard tests/test_*.sh tests/*/test_*.sh)
TEST_FILES = $(wildcard tests/*/test_*.c)
TESTS   = $(filter-out $(if $(CUDA:no=),,test_cuda%),$(notdir $(basename $(TEST_FILES))))
LOGS = $(OUT)/tests
export BIN LOGS
object  = $(patsubst %.c,$(OUT)/%.o,$(1))

# nvcc does not know the sanitizers.
WITH_NVCC = $(and $(CUDA:no=),$(BUILD:asan=))
WITH_NCCL = $(and $(WITH_NVCC),$(MPI_LIBS),$(NCCL:no=))
MEASURING = $(BIN)/plumbline-measure $(if $(MPI_LIBS),$(BIN)/plumbline-measure-mpi) \
            $(if $(WITH_NVCC),$(BIN)/plumbline-measure-cuda) \
            $(if $(WITH_NCCL),$(BIN)/plumbline-measure-nccl)

WORDS_CUDA = $(if $(WITH_NVCC),CUDA: measure --backend cuda$(if $(CUDNN:no=), with cuDNN's \
    attention)$(if $(WITH_NCCL),; links and collectives --nccl),no CUDA found: measure --backend \
    cuda is left out)
all: $(BIN)/plumbline $(MEASURING) $(LIBRARY) $(OUT)/made/man
	$(if $(MPI_LIBS),,@echo \
	    "plumbline: no MPI found: plumbline measure links and collectives are left out" >&2)
	@echo "plumbline: $(WORDS_CUDA)" >&2

include packaging/embed.mk

$(OUT)/libplumbline.a: $(call object,$(PLAN)) $(EMBEDDED:=.o)
	@mkdir -p $(@D)
	$(SAY) ar $@
	$(Q)rm -f $@ && ar rcs $@ $^

# The public library (library/plumbline.h). Static: one object, whose only names are the header's.
LIBRARY_OBJECTS = $(call object,$(wildcard library/*.c))
$(SHARED): $(LIBRARY_OBJECTS) $(OUT)/libplumbline.a
	@mkdir -p $(@D)
	$(SAY) ld $@
	$(Q)$(CC) $(CFLAGS_$(BUILD)) -shared -Wl,-soname,$(SONAME) -Wl,--as-needed -o $@ $^ $(LDFLAGS) \
	    $(LIBS_library)
	@ln -sf $(@F) $(@D)/$(SONAME) && ln -sf $(SONAME) $(@D)/libplumbline.so

$(OUT)/lib/libplumbline.a: $(LIBRARY_OBJECTS) $(OUT)/libplumbline.a
	@mkdir -p $(@D)
	$(SAY) ar $@
	$(Q)ld -r -o $(@:.a=.o) $^ && objcopy --localize-hidden $(@:.a=.o) && rm -f $@ && \
	    ar rcs $@ $(@:.a=.o) && rm $(@:.a=.o)

$(BIN)/plumbline: $(OUT)/plumbline.o $(OUT)/libplumbline.a
	@mkdir -p $(@D)
	$(SAY) ld $@
	$(Q)$(CC) $(CFLAGS_$(BUILD)) -o $@ $^ $(LDFLAGS) $(LIBS_plan)

$(BIN)/plumbline-measure: $(call object,$(MEASURE))
	@mkdir -p $(@D)
	$(SAY) ld $@
	$(Q)$(CC) $(CFLAGS_$(BUILD)) -o $@ $^ $(LDFLAGS) $(LIBS_measure)

# The same program with links and collectives in it; the other one needs no libmpi to run, and hands
# over to this one.
$(BIN)/plumbline-measure-mpi: $(call object,$(filter-out measure/links/mpi_none.c,$(MEASURE)) \
    $(WITH_MPI))
	@mkdir -p $(@D)
	$(SAY) ld $@
	$(Q)$(CC) $(CFLAGS_$(BUILD)) -o $@ $^ $(LDFLAGS) $(LIBS_measure) $(MPI_LIBS)

# The same program with a CUDA device as a back end; the others hand over to it.
$(BIN)/plumbline-measure-cuda: $(call object,$(filter-out measure/cuda/none.c,$(MEASURE)) \
    $(CUDA_PARTS)) $(OUT)/measure/cuda/kernels/kernels.o
	@mkdir -p $(@D)
	$(SAY) ld $@
	$(Q)$(CC) $(CFLAGS_$(BUILD)) -o $@ $^ $(LDFLAGS) $(CUDA_LDFLAGS) $(LIBS_measure) $(LIBS_cuda)

# Links and collectives between devices.
$(BIN)/plumbline-measure-nccl: $(call object,$(filter-out measure/links/mpi_none.c,$(MEASURE)) \
    $(filter-out measure/links/nccl_none.c,$(WITH_MPI)) measure/links/nccl.c) \
    $(OUT)/measure/cuda/kernels/kernels.o
	@mkdir -p $(@D)
	$(SAY) ld $@
	$(Q)$(CC) $(CFLAGS_$(BUILD)) -o $@ $^ $(LDFLAGS) $(CUDA_LDFLAGS) $(LIBS_measure) $(MPI_LIBS) \
	    -lnccl -lcudart_static -lstdc++ -ldl -lrt

$(OUT)/measure/cuda/kernels/kernels.o: measure/cuda/kernels/kernels.cu
	@mkdir -p $(@D)
	$(SAY) nvcc $<
	$(Q)$(NVCC) -O3 -std=c++17 -I. $(CUDA_ARCHS) -Xcompiler -Wall -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

$(patsubst %.c,$(OUT)/%.o,$(WITH_CUDA) measure/links/nccl.c): CFLAGS_all += $(CUDA_INCLUDES)

$(OUT)/measure/links/mpi.o: CFLAGS_all += $(patsubst -I%,-isystem %,$(MPI_CFLAGS))

# Says what is missing before the compiler does.
$(OUT)/libraries: tests/setup.sh
	@mkdir -p $(@D)
	@$(SETUP:install=check) build
	@touch $@

# Objects of other flags than these are compiled again; not for other CFLAGS, which `sudo make
# install` may not know.
$(OUT)/flags: always
	@mkdir -p $(@D)
	@echo '$(CFLAGS_own)' | cmp -s - $@ || echo '$(CFLAGS_own)' > $@

# The elementwise loops are timed: they are worth the vector instructions.
build/release/measure/cpu/%.o: CFLAGS_release = -O3 -g -fno-math-errno

$(OUT)/%.o: %.c $(OUT)/flags | $(OUT)/libraries
	@mkdir -p $(@D)
	$(SAY) cc $<
	$(Q)$(CC) $(CFLAGS_all) -c -o $@ $<

$(foreach test,$(TEST_FILES),$(eval $(OUT)/tests/$(notdir $(basename $(test))): $(call \
    object,$(test))))
$(OUT)/tests/libsupport.a: $(call object,$(SUPPORT))
	$(SAY) ar $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(TESTS:%=$(OUT)/tests/%): $(OUT)/tests/libsupport.a $(OUT)/libplumbline.a
	@mkdir -p $(@D)
	$(SAY) ld $@
	$(Q)$(CC) $(CFLAGS_$(BUILD)) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LDFLAGS) \
	    -lcmocka -lgmp $(LIBS_plan) -lpthread

# The CUDA back end on a device out of the CPU's memory: its own kernels, compiled for the CPU. It
# needs CUDA's headers.
FAKE_CUDA = $(patsubst %.c,$(OUT)/%.o,$(wildcard tests/cuda/*.c)) $(OUT)/tests/cuda/fake_device.o \
    $(OUT)/tests/cuda/kernels/kernels.o
FAKE_FLAGS = -std=c++17 -O2 -g -Wall \
    $(filter -fsanitize=address% -fno-sanitize%,$(CFLAGS_$(BUILD))) -I. \
    $(CUDA_INCLUDES) -MMD -MP

CUDA_TESTS = $(addprefix $(OUT)/tests/,test_cuda test_cuda_bytes test_cuda_layers test_cuda_parts)
$(CUDA_TESTS): $(FAKE_CUDA) $(OUT)/tests/cuda/bench/bench.o \
    $(call object,$(filter-out measure/cuda/none.c measure/main.c,$(filter measure/%,$(MEASURE))) \
    $(filter-out $(CUDA_FUSED),$(CUDA_PARTS)))
$(OUT)/tests/measure/test_cuda%.o $(OUT)/tests/cuda/bench/%.o $(FAKE_CUDA): \
    CFLAGS_all += $(CUDA_INCLUDES)
$(CUDA_TESTS): LIBS_plan += -lstdc++

$(OUT)/tests/cuda/kernels/kernels.o: measure/cuda/kernels/kernels.cu
	@mkdir -p $(@D)
	$(SAY) c++ $< for the CPU
	$(Q)$(CXX) -x c++ -Itests/cuda/fake $(FAKE_FLAGS) -include tests/cuda/fake_device.h -c -o $@ $<

$(OUT)/tests/cuda/%.o: tests/cuda/%.cpp
	@mkdir -p $(@D)
	$(SAY) c++ $<
	$(Q)$(CXX) $(FAKE_FLAGS) -c -o $@ $<

# measure/links/nccl.c on such devices, with an NCCL of pipes: tests/measure/test_nccl.sh runs it.
$(OUT)/tests/cuda/measure-nccl: $(FAKE_CUDA) $(OUT)/tests/cuda/nccl/fake_nccl.o \
    $(call object,$(filter-out measure/links/mpi_none.c,$(MEASURE)) $(filter-out \
    measure/links/nccl_none.c,$(WITH_MPI)) measure/links/nccl.c)
	@mkdir -p $(@D)
	$(SAY) ld $@
	$(Q)$(CC) $(CFLAGS_$(BUILD)) -o $@ $^ $(LDFLAGS) $(LIBS_measure) $(MPI_LIBS) -lstdc++
$(OUT)/tests/cuda/nccl/fake_nccl.o: CFLAGS_all += $(CUDA_INCLUDES)

# For the day a GPU is at hand (tests/gpu/run.sh): a program to compare with, and all that a bare
# machine may lack in build/gpu.
gpu-programs: $(BIN)/gemm_heuristics
$(BIN)/gemm_heuristics: tests/gpu/gemm_heuristics.c
	@mkdir -p $(@D)
	$(SAY) cc $<
	$(Q)$(CC) $(filter-out -MMD -MP -Wconversion,$(CFLAGS_all)) $(CUDA_INCLUDES) -o $@ $< \
	    $(CUDA_LDFLAGS) -lcublasLt -lcudart_static -lstdc++ -ldl -lrt -lpthread

gpu-pack: all gpu-programs
	@sh tests/gpu/pack.sh $(BIN)

# Whether cuDNN knows kernels for the attentions as they are written down; needs cuDNN, no device.
# About a minute.
$(OUT)/fused_plans: $(OUT)/tests/gpu/fused_plans.o $(call object,$(wildcard \
    measure/cuda/fused_cudnn*.c) data/base/arena.c data/base/status.c \
    data/base/plain.c)
	$(Q)$(CC) $(CFLAGS_$(BUILD)) -o $@ $^ $(CUDA_LDFLAGS) -lcudnn -lcudart_static -lstdc++ \
	    -ldl -lrt -lpthread
$(OUT)/tests/gpu/fused_plans.o: CFLAGS_all += $(CUDA_INCLUDES)
test-fused: $(OUT)/fused_plans
	$(OUT)/fused_plans tests/gpu/h100-device.json $(CUDA_HOME)/lib64/stubs/libcuda.so
HELDBACK = $(call object,tests/heldback/predict.c measure/request.c)

# What the planner does not link, for its own tests.
$(addprefix $(OUT)/tests/test_,measure kernels kernels_layers kernels_parts sampling merge): \
    $(call object,$(filter-out measure/main.c,$(filter measure/%,$(MEASURE))))
$(OUT)/tests/test_links: $(call object,$(addprefix measure/links/,pairs.c groups.c report.c \
    together.c))

# Without mpi.c, host.c and the clock: the test plays them.
$(OUT)/tests/test_links_played: $(call object,$(addprefix measure/links/,links.c wire.c assembly.c \
    roster.c pairs.c report.c together.c nccl_none.c) \
    measure/sampling/record.c measure/sampling/interrupts.c measure/sampling/pages.c)

$(OUT)/tests/test_recorded: $(HELDBACK)

$(OUT)/tests/test_library $(OUT)/tests/test_library_words: $(OUT)/lib/libplumbline.a

# One test program: make run-test_json BUILD=asan
run-%: $(OUT)/tests/% all
	$(OUT)/tests/$*

# What runs them: as many at a time as there are processors, or TEST_JOBS=1. Memory is judged as
# users build.
$(OUT)/run: $(OUT)/tests/run.o
	$(SAY) ld $@
	$(Q)$(CC) $(CFLAGS_$(BUILD)) -o $@ $^ $(LDFLAGS)
TEST_JOBS ?= $(shell nproc 2>/dev/null || echo 1)
TEST_RUN = $(OUT)/run --jobs $(TEST_JOBS) --alone "test_links.sh test_known_links.sh test_nccl.sh" \
    $(if $(BUILD:release=),,--most-mb 1024) \
           --times $(OUT)/tests/times.txt --hints tests/times.txt --logs $(OUT)/tests

# What a VIPR file proves: the reader of VIPR that the tests have.
$(OUT)/tests/vipr_check: $(OUT)/tests/vipr_check.o $(call object,$(wildcard \
    tests/support/vipr/*.c)) $(OUT)/libplumbline.a
	@mkdir -p $(@D)
	$(SAY) ld $@
	$(Q)$(CC) $(CFLAGS_$(BUILD)) -o $@ $^ $(LDFLAGS) -lgmp $(LIBS_plan)

# glpsol by the library, for machines without the program.
$(OUT)/tests/glpsol: $(OUT)/tests/glpsol.o
	@mkdir -p $(@D)
	$(SAY) ld $@
	$(Q)$(CC) $(CFLAGS_$(BUILD)) -o $@ $^ $(LDFLAGS) $(LIBS_plan)

tests: $(OUT)/run $(OUT)/tests/vipr_check $(OUT)/tests/glpsol $(TESTS:%=$(OUT)/tests/%) $(if $(and \
    $(CUDA:no=),$(NCCL:no=),$(MPI_LIBS)),$(OUT)/tests/cuda/measure-nccl)

# The theorems of solve/proofs/ checked, and the referee extracted from them; skipped where there is
# no coq.
proofs: $(OUT)/rocq/made
$(OUT)/rocq/made: $(wildcard solve/proofs/*.v solve/proofs/referee/*.ml) solve/proofs/make.sh
	$(SAY) coqc solve/proofs
	$(Q)sh solve/proofs/make.sh $(@D) && touch $@

# All tests of what is built; the last line counts the test programs.
check: all tests proofs layers sizes format-check $(OUT)/tests/path/python3
	@sh tests/trusted.sh $(OUT) docs/PROOFS.md > /dev/null
	@PATH="$(abspath $(OUT)/tests/path):$$PATH" $(TEST_RUN) $(TESTS:%=$(OUT)/tests/%) $(SCRIPTS)

$(OUT)/tests/path/python3: always
	@sh tests/path.sh $@

# With their own set-up: these two are all that a fresh machine needs.
test:
	@$(SETUP) test
	@$(MAKE) --no-print-directory $(JOBS) check

demo:
	@$(SETUP) build
	@$(MAKE) --no-print-directory $(JOBS) all
	@sh tests/demo.sh

setup:
	@$(SETUP) test

test-asan:
	@$(MAKE) --no-print-directory BUILD=asan test

# Includes, and what the objects use of each other.
layers: all
	@sh tests/layers.sh . $(OUT)

# Files of a folder, lines of a file, the median function, first lines.
sizes:
	@sh tests/sizes.sh

# The form of the code: written, or asked for.
format:
	@sh tests/format.sh --write
format-check:
	@sh tests/format.sh

# The schemas of documents, from the tables that read them (tests/data/test_schemas.c asks for it).
schemas: $(OUT)/tests/test_schemas
	@$< write

# Lines that must be believed, for each claim; make check holds docs/PROOFS.md against it.
trusted: $(BIN)/plumbline
	@sh tests/trusted.sh $(OUT)

# The same into docs/PROOFS.md.
trusted-write: $(BIN)/plumbline
	@sh tests/trusted.sh $(OUT) > $(OUT)/trusted && awk -v made=$(OUT)/trusted ' \
	    /^\| (level \| what|claim \| levels)/ { old = 1; while ((getline line < made) > 0 && \
	    line != "") print line } \
	    !/^\|/ { old = 0 } !old' docs/PROOFS.md > $(OUT)/proofs && cat $(OUT)/proofs > docs/PROOFS.md

# Speed on the chain family, and beside CBC and HiGHS where they are found: BENCH_SET=quick|full,
# BENCH_LIMIT_S=60
$(OUT)/bench-separate: $(OUT)/tests/bench/separate.o \
    $(call object,$(call sources,tests/support/textbook tests/support/intopt)) $(OUT)/libplumbline.a
	$(SAY) ld $@
	$(Q)$(CC) $(CFLAGS_$(BUILD)) -o $@ $^ $(LDFLAGS) $(LIBS_plan)

# Placements: proofs and annealing beside each other, BENCH_SET=quick|full
$(OUT)/bench-placement: $(OUT)/tests/bench/placement.o $(OUT)/libplumbline.a
	$(SAY) ld $@
	$(Q)$(CC) $(CFLAGS_$(BUILD)) -o $@ $^ $(LDFLAGS) $(LIBS_plan)

# Random problems against enumeration, 2,000, 400 of each schedule, 300 of the boxes, 2,000 for
# certificates of every kind; make test runs 300, 25, 60 and 240. The first two certify each proof,
# too. Then the bounds of layouts, and the largest claims that are accepted: 200,000 plans, 900
# spaces of slices, 1,000 of grids, 20,000 problems and 5,000 sets of tables with extreme prices.
# That 10,000 searches end. 500 that have a plan of each decision and kind of model, of slices, of
# grids, and of the fused embedding sync on nodes; 500 in which replicas may cross between groups.
test-exact: $(addprefix $(OUT)/tests/,test_exact test_exact_decisions test_first_layers \
    test_placed test_check_places test_exact_schedules test_eliminate test_certificate \
    test_layout_paths test_layout_kinds test_slices test_grids test_pools test_segments \
    test_tiers test_claims test_claims_extreme test_raise_laws test_price_laws \
    test_wording_laws test_ends test_across test_referee) proofs $(BIN)/plumbline \
    $(OUT)/bench-separate
	$(OUT)/tests/test_exact 2000
	$(OUT)/tests/test_exact_decisions 500
	$(OUT)/tests/test_first_layers 2000
	$(OUT)/tests/test_placed 1600 '*fused*'
	$(OUT)/tests/test_check_places 1800 1 fused '*problems*'
	$(OUT)/tests/test_check_places 1100 1 any '*crossing*'
	$(OUT)/tests/test_exact_schedules 400
	$(OUT)/tests/test_eliminate 300
	$(OUT)/tests/test_certificate 2000
	$(OUT)/tests/test_layout_paths 200000
	$(OUT)/tests/test_layout_kinds 300000
	$(OUT)/tests/test_slices 900
	$(OUT)/tests/test_grids 1000
	$(OUT)/tests/test_pools 500
	$(OUT)/tests/test_segments 500
	$(OUT)/tests/test_tiers 1000
	$(OUT)/tests/test_across 1000
	$(OUT)/tests/test_claims 20000
	sh tests/formulate/test_other_solvers.sh long
	$(OUT)/tests/test_claims_extreme 5000
	$(OUT)/tests/test_raise_laws 5000
	$(OUT)/tests/test_ends 10000
	$(OUT)/tests/test_price_laws 5000
	$(OUT)/tests/test_wording_laws 5000
	$(OUT)/tests/test_referee 20000 1 10
	mkdir -p $(OUT)/tests/offers && python3 tests/offers/offers_drawn.py $(BIN)/plumbline \
	    $(OUT)/tests/offers 500
	mkdir -p $(OUT)/tests/designs && python3 tests/offers/designs_drawn.py $(BIN)/plumbline \
	    $(OUT)/tests/designs 500
	DOORS=500 DOORS_SEED=9 sh tests/imports/test_doors.sh

# Known errors of thought, planted one by one: the bed of test_claims must find each (docs/PROOFS.md
# 7). PLANTED="NAME ...": those.
test-planted: $(OUT)/tests/test_claims $(BIN)/plumbline
	@TEST_JOBS=$(TEST_JOBS) python3 tests/planted.py $(PLANTED)

# Launch files of eight models for every framework, read back; make test has three models.
test-launched: $(BIN)/plumbline
	MODELS="llama-3.1-8b qwen3-30b-a3b qwen3-32b qwen3-next-80b-a3b mistral-7b mixtral-8x7b \
	    gpt-oss-20b deepseek-v2-lite" bash tests/report/test_launched.sh

# 20,000 random damages to certificates; make test runs 2,000.
test-mutations: $(OUT)/tests/test_check_mutations
	$(OUT)/tests/test_check_mutations 20000

# Every edit of every key of documents of each kind; make test has a sample.
test-keys: $(OUT)/tests/test_keys
	$(OUT)/tests/test_keys 1

# A batch of 200, killed ten times; make test has 24 and four.
test-batch: $(BIN)/plumbline
	@BIN=$(BIN) sh tests/batch/test_batch.sh 200 10

# Every table of docs/PAPERS.md, made anew and compared with the page.
test-papers: $(BIN)/plumbline
	mkdir -p $(OUT)/tests
	PLUMBLINE=$(BIN)/plumbline sh docs/examples/papers/all.sh $(OUT)/tests/papers \
	    > $(OUT)/tests/papers.txt
	python3 tests/solve/papers_page.py docs/PAPERS.md < $(OUT)/tests/papers.txt
	sh tests/solve/test_papers_more.sh all

# The public instances, solved and checked anew, against data/instances/table.csv; -write: takes
# what is better, makes docs/INSTANCES.md.
instances: $(BIN)/plumbline
	@BIN=$(BIN) sh data/instances/make.sh
instances-write: $(BIN)/plumbline
	@BIN=$(BIN) sh data/instances/make.sh --write

# The same on a real Slurm of two nodes on this machine: root, slurm-wlm and munge; else it is
# skipped. Some four minutes.
test-slurm: $(BIN)/plumbline
	@BIN=$(BIN) sh tests/batch/slurm.sh

# The shipped costs that are fitted, anew from their rows (data/costs/make.sh); test_shipped_costs
# compares.
costs: $(BIN)/plumbline
	@BIN=$(BIN) sh data/costs/make.sh

# Costs of this machine, measured now, against shapes that they were not made from, measured right
# after: tests/heldback/heldback.sh
$(OUT)/heldback: $(OUT)/tests/heldback/heldback.o $(HELDBACK) $(OUT)/libplumbline.a
	$(SAY) ld $@
	$(Q)$(CC) $(CFLAGS_$(BUILD)) -o $@ $^ $(LDFLAGS) $(LIBS_plan)

heldback: all $(OUT)/heldback
	@HELDBACK_OPTIONS="$(HELDBACK_OPTIONS)" HELDBACK_SET=$(HELDBACK_SET) sh \
	    tests/heldback/heldback.sh $(BIN)/plumbline $(OUT)/heldback

bench: all $(OUT)/bench-separate $(OUT)/bench-placement
	@bash tests/bench/bench.sh $(BIN)/plumbline $(OUT)/bench-separate
	@bash tests/bench/layouts.sh $(BIN)/plumbline
	@bash tests/bench/placement.sh \
	    $(BIN)/plumbline $(OUT)/bench-placement ../shared/validation/cluster16_t*.json
include packaging/install.mk tests/fuzz/fuzz.mk

.PHONY: proofs always deb wheel man uninstall format format-check gpu-programs gpu-pack test-fused \
    bench heldback costs all tests check test test-asan demo setup layers sizes schemas trusted \
    trusted-write install clean test-exact test-papers test-planted test-mutations test-batch \
    test-slurm test-launched test-keys instances instances-write
.SECONDARY:

-include $(shell find $(OUT) -name '*.d' -type f 2>/dev/null)
