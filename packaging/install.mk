# Installing: SOURCE:TARGET below PREFIX, and LIBDIR where libraries go there. What was put is
# listed in share/plumbline/installed, by which make uninstall goes.
LIBDIR ?= lib
COMMANDS = $(shell $(BIN)/plumbline completion words '' | cut -f 1)
PAGES   = plumbline $(addprefix plumbline-,$(COMMANDS))
DOCUMENTS = README.md $(wildcard docs/*.md docs/schemas/* docs/examples/*/*)
INSTALLED = $(foreach program,$(BIN)/plumbline $(MEASURING),$(program):bin/$(notdir $(program))) \
            $(foreach file,$(SHIPPED),$(file):share/plumbline/$(file)) \
            $(foreach file,$(DOCUMENTS),$(file):share/doc/plumbline/$(file)) \
            $(foreach page,$(PAGES),$(OUT)/made/$(page).1:share/man/man1/$(page).1) \
            $(foreach program,$(filter-out %/plumbline-measure,$(MEASURING)), \
            $(OUT)/made/also-measure:share/man/man1/$(notdir $(program)).1) \
            $(OUT)/made/bash:share/bash-completion/completions/plumbline \
            $(OUT)/made/zsh:share/zsh/site-functions/_plumbline \
            $(OUT)/made/fish:share/fish/vendor_completions.d/plumbline.fish \
            library/plumbline.h:include/plumbline.h \
            $(foreach file,$(PYTHON),library/python/$(file):share/plumbline/python/$(file)) \
            $(foreach file,$(LIBRARY),$(file):$(LIBDIR)/$(notdir $(file)))
PYTHON = $(patsubst library/python/%,%,$(wildcard library/python/plumbline/*.py \
    library/python/plumbline/py.typed))
LINKS = $(SONAME) libplumbline.so

# Manual pages and completion, out of the program's own tables.
man: $(OUT)/made/man
$(OUT)/made/man: $(BIN)/plumbline $(MEASURING)
	@mkdir -p $(@D)
	$(SAY) man pages and completion
	@cd $(@D) && program=$$OLDPWD/$(BIN)/plumbline && "$$program" help --man > plumbline.1 && \
	    for name in \
	    $$("$$program" completion words '' | cut -f 1); \
	    do "$$program" help --man $$name > plumbline-$$name.1 || exit 1; done && \
	    for shell in bash zsh fish; do "$$program" completion $$shell > $$shell || exit 1; done && \
	    echo '.so man1/plumbline-measure.1' > also-measure && touch man

define PKG_CONFIG
prefix=$(subst $(space),\ ,$(PREFIX))
includedir=$${prefix}/include
libdir=$${prefix}/$(LIBDIR)

Name: plumbline
Description: plans the training of large models on many GPUs and bounds the distance from optimal
Version: $(VERSION)
Cflags: -I$${includedir}
Libs: -L$${libdir} -lplumbline
Libs.private: $(LIBS_library)
endef
export PKG_CONFIG
space := $() $()

install: all man
	$(SAY) install into "$(DESTDIR)$(PREFIX)"
	@to="$(DESTDIR)$(PREFIX)"; umask 022; list="$$to/share/plumbline/installed"; \
	    mkdir -p "$$to/share/plumbline" && : > "$$list.new" && \
	for pair in $(INSTALLED); do \
	    target=$${pair#*:}; case $$target in bin/*|*.so.*) mode=755 ;; *) mode=644 ;; esac; \
	    install -D -m $$mode "$${pair%%:*}" "$$to/$$target" && echo "$$target" >> "$$list.new" || \
	    exit 1; \
	done && \
	mkdir -p "$$to/$(LIBDIR)/pkgconfig" && printf '%s\n' "$$PKG_CONFIG" > \
	"$$to/$(LIBDIR)/pkgconfig/plumbline.pc" && \
	echo "$(LIBDIR)/pkgconfig/plumbline.pc" >> "$$list.new" && \
	for link in \
	$(LINKS); do ln -sf $(notdir $(SHARED)) "$$to/$(LIBDIR)/$$link" && \
	echo "$(LIBDIR)/$$link" >> "$$list.new" || exit 1; done && \
	if [ -f "$$list" ]; then grep -vxFf "$$list.new" "$$list" | while IFS= read -r target; \
	do rm -f "$$to/$$target"; done; fi && \
	mv "$$list.new" "$$list"

# Files that install put there, then those of its folders that are plumbline's own.
uninstall:
	@to="$(DESTDIR)$(PREFIX)"; list="$$to/share/plumbline/installed"; \
	[ -f "$$list" ] || { echo "plumbline: $$list: no such file: nothing was installed there" >&2; \
	exit 2; }; \
	while IFS= read -r target; do rm -f "$$to/$$target" || exit 1; done < "$$list"; rm -f "$$list"; \
	for own in share/plumbline share/doc/plumbline; \
	do find "$$to/$$own" -depth -type d -exec rmdir {} + 2>/dev/null; done; \
	[ ! -e "$$to/share/plumbline" ]

# Debian packages of this build, without what needs CUDA: into DEB. dpkg-dev makes them.
DEB ?= $(OUT)/deb
deb: all
	@command -v dpkg-shlibdeps > /dev/null || { echo \
	    "plumbline: make deb: dpkg-shlibdeps is missing: apt-get install dpkg-dev" >&2; exit 2; }
	@rm -rf "$(DEB)/whole" && mkdir -p "$(DEB)"
	@$(MAKE) --no-print-directory -o all -o man CUDA=no install \
	    DESTDIR="$$(cd "$(DEB)" && pwd)/whole" PREFIX=/usr LIBDIR=lib/$$(dpkg-architecture \
	    -qDEB_HOST_MULTIARCH)
	@sh packaging/deb.sh "$(DEB)" $(VERSION)

# A wheel of the Python package (library/python), with the library and what it needs: into WHEEL.
# Libraries are found next to each other.
WHEEL ?= $(OUT)/wheel
wheel: $(OUT)/wheel/libplumbline.so.0 packaging/wheel.py
	@mkdir -p "$(WHEEL)"
	@python3 packaging/wheel.py $< $(VERSION) "$(WHEEL)" $(SHIPPED)
$(OUT)/wheel/libplumbline.so.0: $(LIBRARY_OBJECTS) $(OUT)/libplumbline.a
	@mkdir -p $(@D)
	$(SAY) ld $@
	$(Q)$(CC) $(CFLAGS_$(BUILD)) -shared -Wl,-soname,$(SONAME) -Wl,--as-needed \
	    -Wl,--disable-new-dtags,-rpath,'$$ORIGIN' -o $@ $^ $(LDFLAGS) $(LIBS_library)
