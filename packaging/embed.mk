# Texts that are in the program: as bytes, or as tables of C.
PAGE     = $(OUT)/solve/report/html/page_text
TRY      = $(OUT)/solve/report/try_text
TORCHRUN = $(OUT)/solve/report/torchrun_text
TITAN    = $(OUT)/solve/report/export/torchtitan_text
MEGATRON = $(OUT)/solve/report/export/megatron_text
COMPLETE = $(OUT)/completion_text
NAMES    = $(OUT)/data/frameworks/tables
EMBEDDED = $(PAGE) $(TRY) $(TORCHRUN) $(TITAN) $(MEGATRON) $(COMPLETE) $(NAMES)

# $(1): the array's name; $(2): the files that follow each other in it.
as_bytes = echo 'const char $(1)[] = {'; cat $(2) | od -An -v -td1 | \
    sed 's/\(-*[0-9][0-9]*\)/\1,/g'; echo '0};'

# The style and the scripts of the HTML report.
$(PAGE).c: $(addprefix solve/report/html/,style.css tables.js chart.js)
	@mkdir -p $(@D)
	$(Q){ $(call as_bytes,page_style,$(filter %.css,$^)); \
	    $(call as_bytes,page_script,$(filter %.js,$^)); } > $@

# What reads a framework's log, in the script that tries a plan.
$(TRY).c: solve/report/try.awk
	@mkdir -p $(@D)
	$(Q){ $(call as_bytes,try_reading,$^); } > $@

# What starts a plan on a node.
$(TORCHRUN).c: solve/report/torchrun.bash
	@mkdir -p $(@D)
	$(Q){ $(call as_bytes,torchrun_parts,$^); } > $@

# Layers of models for torchtitan.
$(TITAN).c: solve/report/export/torchtitan_layers.py
	@mkdir -p $(@D)
	$(Q){ $(call as_bytes,titan_layers,$^); } > $@

# The layer of a model that Megatron-LM's flags do not say.
$(MEGATRON).c: solve/report/export/megatron_layers.py
	@mkdir -p $(@D)
	$(Q){ $(call as_bytes,megatron_layers,$^); } > $@

# Completion of shells.
$(COMPLETE).c: $(addprefix packaging/completion.,bash zsh fish)
	@mkdir -p $(@D)
	$(Q){ $(foreach file,$^,$(call as_bytes,completion_$(subst .,,$(suffix $(file))),$(file));) } > $@

# What frameworks call their keys, what those change that no row states, and recipes.
$(NAMES).c: $(addprefix data/frameworks/,tables.awk recipes.txt) \
    $(wildcard data/frameworks/names/* data/frameworks/effects/*)
	$(Q)mkdir -p $(@D) && awk -f $^ > $@.made && mv $@.made $@

$(EMBEDDED:=.o): %.o: %.c $(OUT)/flags
	$(SAY) cc $<
	$(Q)$(CC) $(CFLAGS_all) -Wno-overlength-strings -c -o $@ $<
