# One format's loader, or what audits it, under libFuzzer: make fuzz-plan SECONDS=600. New inputs
# gather in build/fuzz/FORMAT; make fuzz-keep-FORMAT takes those that reach new code into the
# corpus, which test_fuzz_corpus replays: in folders by their names' last letters.
SECONDS ?= 60
FUZZ_FLAGS = -std=c11 -D_POSIX_C_SOURCE=200809L -O1 -g -fsanitize=fuzzer,address,undefined \
    -fno-sanitize-recover=undefined -I.
FUZZ_CC   ?= clang
FUZZ_CODE  = $(call sources,data solve/checker solve/judge) tests/fuzz/fuzz.c \
    tests/support/documents.c $(wildcard tests/support/fuzz/*.c) \
    $(filter-out %/command.c,$(wildcard tests/support/vipr/*.c))
# The sanitizers' own memory is kept small, so that the limit is about the program's.
FUZZ_OPTIONS = \
    ASAN_OPTIONS=quarantine_size_mb=8:thread_local_quarantine_size_kb=64:malloc_context_size=4

build/fuzz/objects/%.o: %.c $(shell find data solve tests/support tests/fuzz -name '*.h')
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_FLAGS) -c -o $@ $<

build/fuzz/objects/tables.o: $(NAMES).c
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_FLAGS) -Wno-overlength-strings -c -o $@ $<

build/fuzz/fuzz: $(FUZZ_CODE:%.c=build/fuzz/objects/%.o) build/fuzz/objects/tables.o
	clang $(FUZZ_FLAGS) -o $@ $^ -lcjson -lnettle -lgmp -lm

fuzz-keep-%: build/fuzz/fuzz
	@mkdir -p build/fuzz/$*
	ln -sf fuzz build/fuzz/fuzz-$*
	build/fuzz/fuzz-$* -merge=1 tests/fuzz/corpus/$* build/fuzz/$*
	sh tests/fuzz/file.sh tests/fuzz/corpus/$*

fuzz-%: build/fuzz/fuzz
	@mkdir -p build/fuzz/$*
	ln -sf fuzz build/fuzz/fuzz-$*
	$(FUZZ_OPTIONS) build/fuzz/fuzz-$* -max_total_time=$(SECONDS) -max_len=16384 -timeout=20 \
	    -rss_limit_mb=256 $(if $(filter nodes jobs hf logs,$*),-close_fd_mask=2) \
	    -artifact_prefix=build/fuzz/$*- -dict=tests/fuzz/$(if $(wildcard \
	    tests/fuzz/$*.dict),$*,json).dict build/fuzz/$* tests/fuzz/corpus/$*

clean:
	rm -rf build bin
