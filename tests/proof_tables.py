#!/usr/bin/env python3
"""Whether PROOFS' two tables of hypotheses (8 and 16) are about what is there: what asks for a
hypothesis is a function, file or word of solve/checker, a theorem is one that Rocq checks, a plant
is in plants.txt, and of a row's plants one is in a function or file that the row names."""
import glob, re, sys

page = open('docs/PROOFS.md').read()
checker = {f: open(f).read() for f in glob.glob('solve/checker/**/*.[ch]', recursive=True)}
words = set(re.findall(r'\w+', ' '.join(checker.values())))
words.update(f.split('/')[-1] for f in checker)
proofs = ' '.join(open(f).read() for f in glob.glob('solve/proofs/*.v'))
theorems = set(re.findall(r'^(?:Theorem|Lemma|Corollary)\s+(\w+)', proofs, re.M))
plants = dict((name, (file.split('/')[-1], function)) for name, file, function in re.findall(
    r'^([a-z][a-z0-9-]*): [^\n]*\n +(\S+) (\w+):', open('tests/plants.txt').read(), re.M))
wrong = []


def rows(head):
    for line in page[page.index(head):].split('\n')[2:]:
        if not line.startswith('|'):
            return
        yield [cell.strip() for cell in line.strip('|').split('|')]


def look(row, asked, found):
    named = set(re.findall(r'`([\w.]+)`', asked))
    for word in named - words:
        wrong.append('%s: solve/checker has no %s' % (row, word))
    kinds = re.findall(r'\b[a-z0-9]+(?:-[a-z0-9]+)+\b', re.sub('`[^`]*`', '', found))
    known = [p for kind in kinds for p in (kind, kind.replace('filling-', 'bound-', 1))
             if p in plants]
    for kind in kinds:
        if kind not in plants:
            wrong.append('%s: no plant %s' % (row, kind))
    if known and named and not any(named & set(plants[p]) for p in known):
        wrong.append('%s: %s is in none of %s' % (row, ', '.join(known), ', '.join(sorted(named))))


for row, _, asked, _, found in rows('| hypothesis | needed by | asked by'):
    look(row, asked, found)
for row, theorem, _, asked in rows('| row | theorem |'):
    look(row, asked, asked)
    for name in set(re.findall(r'`(\w+)`', theorem)) - theorems:
        wrong.append('%s: no theorem %s' % (row, name))
print('\n'.join(wrong) or 'proof_tables: ok')
sys.exit(bool(wrong))
