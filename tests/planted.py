#!/usr/bin/env python3
"""Whether the tests find errors of thought that are known: planted.py [NAME ...], with
build/release/tests/test_claims built. Each is planted in a copy of the sources; the test that it
names must fail at one of its own questions, and test_claims tell of claims above the truth. Without
a plant it must tell of none. With names: these plants alone. --apply: only whether each still finds
its place; all that do not.
TEST_JOBS: so many runs at a time. PLANTED_PROBLEMS=500: problems of each for test_claims."""
import collections, concurrent.futures, os, re, shutil, subprocess, sys, tempfile, time

# Lines of plants.txt that begin with # say what the others mean.
PLANTS = ''.join(line for line in open('tests/plants.txt') if not line.startswith('#'))

OUT = 'build/release'
FOLDER, TREE = 'build/planted', 'build/planted/tree'
# Many an error of thought ends the program at an assert. Asked is whether the test would tell.
ASSERTS_OFF = '-DNDEBUG -Wno-unused-variable -Wno-unused-function ' \
    '-Wno-unused-but-set-variable -Wno-unused-parameter'
JOBS = int(os.environ.get('TEST_JOBS') or os.cpu_count() or 1)
PROBLEMS = os.environ.get('PLANTED_PROBLEMS', '500')
TOKEN = re.compile(r'//[^\n]*|"(?:\\.|[^"\\])*"|\$?\w+|->|&&|\|\||[-+*/%&|<>=!^]=|<<|>>|\+\+|--|\S')
# What scripts run.
SCRIPTED = 'plumbline', 'plumbline-measure', 'plumbline-measure-mpi'
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
            if not at.startswith(('./build', './.git')) for f in names if f.endswith(('.c', '.h'))]


def build(name, test):
    """The program, and the test that it asks."""
    test = test.split()[0]
    programs = ['bin/' + program for program in SCRIPTED] if test.endswith('.sh') else \
        ['bin/plumbline', '%s/tests/%s' % (OUT, test)]
    made = subprocess.run(
        ['make', '-C', TREE, '--no-print-directory', '-j%d' % JOBS, 'BUILD=release',
         'CFLAGS=' + ASSERTS_OFF] + programs,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if made.returncode:
        raise SystemExit('%s\nplanted: %s: does not build' % (made.stdout, name))
    os.mkdir('%s/bin-%s' % (TREE, name))
    for program in programs:
        shutil.copy(os.path.join(TREE, program), '%s/bin-%s' % (TREE, name))


def judge(name, test):
    """One run. test_claims may be stopped, after some claims above the truth, by a plan that the
    planted program's judge refuses; other tests must fail at a question, not at an assert."""
    begun, log = time.time(), '%s/%s.log' % (FOLDER, name)
    test, *arguments = test.split()
    claims = test == 'test_claims'
    words = ['bin-%s/%s' % (name, test)] + arguments + [PROBLEMS] * claims
    if test.endswith('.sh'):
        words = ['sh', test]
    with open(log, 'wb') as to:
        status = subprocess.run(words, cwd=TREE, stdout=to, stderr=to,
                                env=dict(os.environ, BIN='bin-' + name)).returncode
    said = open(log, errors='replace').read()
    told = collections.Counter(re.findall(r'^seed \d+: (.*): claimed .*, true ' if claims else
                                          r'^FAILED: (\w+):' if test.endswith('.sh') else
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
