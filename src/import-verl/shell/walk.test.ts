import { describe, expect, it } from 'vitest'
import { readScript } from './walk.js'

const words = (script: string) => readScript(script, 'run.sh').launches[0]?.words
/** Value of `k=…` in the launch that ends the script. */
const valueAfter = (before: string, value: string) =>
  words(`${before}\npython3 -m verl.trainer.main_ppo k=${value}`)?.[0]?.slice(2)

describe('words and quotes', () => {
  it.each([
    ["'a b'", 'a b'],
    ['"a b"', 'a b'],
    ['a\\ b', 'a b'],
    [`'["x","y"]'`, '["x","y"]'],
    [`['x','y']`, '[x,y]'],
    ['"it\'s"', "it's"],
    ['"a\\"b\\$c\\n"', 'a"b$c\\n'],
    ["$'a\\tb'", 'a\tb'],
    ['x#y', 'x#y'],
    ['1e-6', '1e-6'],
    ["'${trainer.project_name}'", '${trainer.project_name}'],
  ])('%s', (source, expected) => {
    expect(valueAfter('', source)).toBe(expected)
  })

  it('joins lines that end in a backslash, also with Windows line ends', () => {
    expect(words('python -m verl.trainer.main_ppo a=1 \\\n   b=2 \\\r\n c=3')).toEqual(['a=1', 'b=2', 'c=3'])
  })

  it('a backslash without a blank before it still ends the word', () => {
    expect(words('python -m verl.trainer.main_ppo a=1\\\n   b=2')).toEqual(['a=1', 'b=2'])
  })

  it('leaves redirections, pipes and background marks out', () => {
    expect(words('nohup python3 -m verl.trainer.main_ppo a=1 b=2 > log.txt 2>&1 | tee -a x &')).toEqual(['a=1', 'b=2'])
  })

  it('says when a comment cuts the command', () => {
    const reading = readScript('python3 -m verl.trainer.main_ppo a=1 \\\n  # data.x=1 \\\n  trainer.y=2\n', 'run.sh')
    expect(reading.launches[0].words).toEqual(['a=1'])
    expect(reading.notes[0]).toContain("'trainer.y=2' is cut off")
  })
})

describe('variables', () => {
  it.each([
    ['x=1', '$x', '1'],
    ['x=1', '${x}2', '12'],
    ['', '$HOME/a', '${oc.env:HOME}/a'],
    ['x=~/data', '$x', '${oc.env:HOME}/data'],
    ['', '${X:-5}', '5'],
    ['', '${X:-"a b"}', 'a'],
    ['', '"${X:-${Y:-$HOME/m}}"', '${oc.env:HOME}/m'],
    ['', '${X:=7}$X', '77'],
    ['x=', '${x:-5}', '5'],
    ['x=', '${x-5}', ''],
    ['x=1', '${x:+yes}', 'yes'],
    ['', '${X:+yes}', ''],
    ['x=a/b/c.parquet', '${x##*/}', 'c.parquet'],
    ['x=a/b/c.parquet', '${x%/*}', 'a/b'],
    ['x=a.b.c', '${x%%.*}', 'a'],
    ['x=a.b.c', '${x#*.}', 'b.c'],
    ['x=a-b-c', '${x//-/_}', 'a_b_c'],
    ['x=a-b-c', '${x/-/_}', 'a_b-c'],
    ['x=AbC', '${x,,}${x^^}', 'abcABC'],
    ['x=abcdef', '${x:1:3}', 'bcd'],
    ['x=abc', '${#x}', '3'],
    ['y=5; x=y', '${!x}', '5'],
    ['a=(p q "r s")', '${a[1]}', 'q'],
    ['a=(p q "r s")', '${#a[@]}', '3'],
    ['declare -A m=([k]=v [l]=w)', '${m[l]}', 'w'],
    ['x=a; x+=b', '$x', 'ab'],
    ['export x=1 y=2', '$x$y', '12'],
    ['x=$(basename "/m/Qwen-7B")', '$x', 'Qwen-7B'],
    ['d=$(dirname "$HOME/m/Q")', '$d', '${oc.env:HOME}/m'],
    ['d=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)', '$d/x', './x'],
    ['d=`pwd`', '$d', '${oc.env:PWD}'],
  ])('%s | %s', (before, source, expected) => {
    expect(valueAfter(before, source)).toBe(expected)
  })

  it('splits unquoted results and keeps quoted ones and arrays whole', () => {
    const script = 'x="a=1 b=2"; l=(c=3 "d=4 5"); l+=(e=6)\npython3 -m verl.trainer.main_ppo $x "${l[@]}" "f=$x"'
    expect(words(script)).toEqual(['a=1', 'b=2', 'c=3', 'd=4 5', 'e=6', 'f=a=1 b=2'])
  })

  it('marks what only a run would tell', () => {
    const reading = readScript('t=$(date +%s)\npython3 -m verl.trainer.main_ppo k=x_$t', 'run.sh')
    expect(reading.launches[0].words).toEqual(['k=x_${verl.unknown:0}'])
    expect(reading.variables.unknown).toEqual([{ source: '$(date +%s)', line: 1 }])
  })

  it.each([
    ['$((1024 * 2))', '2048'],
    ['$(( (n + 1) * 3 ))', '15'],
    ['$((n ** 2 / 3 % 4))', '1'],
    ['$((n > 3 ? 8 : 9))', '8'],
    ['$(($n << 2))', '16'],
    ['$((0x10 + 010))', '24'],
    ['$((-n + 1))', '-3'],
  ])('arithmetic %s', (source, expected) => {
    expect(valueAfter('n=4', source)).toBe(expected)
  })

  it('arithmetic on what is not known is not known', () => {
    expect(valueAfter('', '$((NNODES * 8))')).toBe('${verl.unknown:0}')
    expect(valueAfter('', '$((1 / 0))')).toBe('${verl.unknown:0}')
  })
})

describe('control flow', () => {
  it.each([
    ['x=2; if [ $x -eq 2 ]; then y=a; else y=b; fi', 'a'],
    ['x=2; if [[ "$x" == "3" ]]; then y=a; elif [[ $x = 2 && -n $x ]]; then y=c; else y=b; fi', 'c'],
    ['if [ -z "$UNSET" ]; then y=a; fi', 'a'],
    ['y=b; [ -n "$UNSET" ] && y=a', 'b'],
    ['y=b; if [ -f /some/file ]; then y=a; fi', 'b'],
    ['if [ "$#" -lt 1 ]; then echo usage; exit 1; fi; y=a', 'a'],
    ['case "${1:-two}" in one) y=a ;; two|three) y=b ;; *) y=c ;; esac', 'b'],
    ['for i in 1 2 3; do y=$y$i; done', '${oc.env:y}123'],
    ['y=; for i in 1 2 3; do y=$y$i; done', '123'],
    ['y=; for i in {3..1} a{08..10..2}b $(seq 2) $(seq 4 2 8); do y=$y$i; done', '321a08ba10b12468'],
    [
      'y=; for i in {1,2,3} data_{train,test} {a..c} {e..a..2}; do y=$y$i,; done',
      '1,2,3,data_train,data_test,a,b,c,e,c,a,',
    ],
    ['d=p; y=; for i in "$d"/{a,${d},"{x,y}"}{1..2}; do y=$y$i:; done', 'p/a1:p/a2:p/p1:p/p2:p/{x,y}1:p/{x,y}2:'],
    ['y=; for i in "{1,2}" \\{3,4} {5} {6..$n} {a,}; do y=$y$i; done', '{1,2}{3,4}{5}{6..${oc.env:n}}a'],
    ['l=({1..3} x{p,q}); y=; for i in "${l[@]}"; do y=$y$i; done', '123xpxq'],
    ['set -- p q; y=; for i; do y=$y$i; done', 'pq'],
    ['i=0; y=; while [ $i -lt 3 ]; do y="${y:+$y,}s$i"; i=$((i+1)); done', 's0,s1,s2'],
    ['i=3; y=; until ((i == 0)); do y=$y$i; ((--i)); done', '321'],
    ['y=; for ((j=0; j<2; j++)); do y=${y}$j; done', '01'],
    ['n=6; y=; for ((i=0, j=n; i<j; i+=2, j--)); do y=$y$i$j,; done', '06,25,'],
    ['y=; for ((;;)); do y=${y}x; [ ${#y} -eq 2 ] && break; done', 'xx'],
    ['y=; for i in 1 2 3; do if [ $i = 2 ]; then continue; fi; y=$y$i; done', '13'],
    ['y=; for i in 1 2; do for j in 1 2 3; do [ $j = 2 ] && continue 2; y=$y$i$j,; done; done', '11,21,'],
    ['y=; for i in 1 2; do for j in 1 2; do y=$y$i$j; break 9; done; done', '11'],
    ['y=; for i in 1 2 3; do continue && y=z; y=$y$i; done', ''],
    ['y=; for i in 1 2 3; do y=$y$i; [ $i = 2 ] && break && y=z; done', '12'],
    ['y=; for i in 1 2 3; do if continue; then y=z; fi; y=$y$i; done', ''],
    ['y=; for i in 1 2; do ( break ); y=$y$i; done', '12'],
    ['y=; for i in 1 2; do break | cat; y=$y$i; done', '12'],
    ['y=a; while true; do sleep 5; ray status && break; done', 'a'],
    ['break; y=a', 'a'],
    ['while [ $# -gt 0 ]; do y=x; shift; done; y=${y:-none}', 'none'],
    ['f() { local v=$1; y=${v}!; }; f hey', 'hey!'],
    ['function f { y=1; }\nf', '1'],
    ['set -- p q; shift; y=$1', 'q'],
    ['((n = 3)); y=$n', '3'],
    ['n=1; (( n++ )); y=$n', '2'],
    ['y=a # y=b', 'a'],
    ['{ y=a; }', 'a'],
    ['false || y=z', 'z'],
  ])('%s', (before, expected) => {
    expect(valueAfter(before, '$y')).toBe(expected)
  })

  it('takes the branch that launches when the condition is not known, and says so', () => {
    const reading = readScript('if [ -d x ]; then\n python3 -m verl.trainer.main_ppo a=1\nelse\n echo no\nfi', 'run.sh')
    expect(reading.launches).toHaveLength(1)
    expect(reading.notes[0]).toContain('line 1')
  })

  it.each([
    [
      'while read -r f; do y=$f; done < list',
      'line 2: when this loop ends is not known before the script runs; it was skipped',
    ],
    ['for ((i=0; i<N; i++)); do y=$i; done', 'line 2: when this loop ends is not known'],
    [
      'while true; do y=$((y+1)); test -f x && break; done',
      'line 2: this loop is too long; it was not read to its end',
    ],
    ['for f in $(ls); do y=$f; done', 'line 2: what this loop runs over is not known before the script runs'],
    ['for f in data/*.parquet; do y=$f; done', 'line 2: what this loop runs over is not known before the script runs'],
    ['l=(data/*); for f in "${l[@]}"; do y=$f; done', 'line 2: what this loop runs over is not known'],
    ['p="data/*"; for f in $p; do y=$f; done', 'line 2: what this loop runs over is not known'],
    ['for i in {1..2000}; do y=$i; done', 'line 2: what this loop runs over is not known'],
    ['for i in {1..100}{1..100}; do y=$i; done', 'line 2: what this loop runs over is not known'],
    ['for i in {a,{b,c}}; do y=$i; done', 'line 2: what this loop runs over is not known'],
  ])('a loop that cannot be read says so: %s', (loop, note) => {
    const reading = readScript(`y=0\n${loop}\npython3 -m verl.trainer.main_ppo k=$y`, 'run.sh')
    expect(reading.launches).toHaveLength(1)
    expect(reading.notes).toEqual([expect.stringContaining(note)])
  })

  it('says nothing of a quoted text that looks like a list of files', () => {
    const loops = 'for u in "http://a?b=1" c; do y=$u; done\nx="a*b"; for u in "$x" \'{1..2000}\'; do y=$u; done'
    expect(readScript(`${loops}\npython3 -m verl.trainer.main_ppo k=$y`, 'run.sh').notes).toEqual([])
  })

  it('imports the first round of a loop over launches', () => {
    const reading = readScript('for m in x y; do python3 -m verl.trainer.main_ppo model=$m; done', 'run.sh')
    expect(reading.launches.map((launch) => launch.words)).toEqual([['model=x']])
    expect(reading.notes[0]).toContain('x, y')
    const counted = readScript('for ((i=0; i<N; i++)); do python3 -m verl.trainer.main_ppo k=$i; done', 'run.sh')
    expect(counted.launches.map((launch) => launch.words)).toEqual([['k=0']])
    expect(counted.notes[0]).toContain('only the first iteration')
  })
})

describe('finding the launch', () => {
  it.each([
    ['CUDA_VISIBLE_DEVICES=0 PYTHONPATH=. python -u -m verl.trainer.main_ppo a=1'],
    ['ray job submit --address="$A" --runtime-env=x.yaml -- python3 -m recipe.dapo.main_dapo a=1'],
    ['srun --nodes=1 apptainer run img python3 -m verl.trainer.main_ppo a=1'],
    ['CMD="python3 -m verl.trainer.main_ppo a=1"; eval "$CMD"'],
    ['CMD="python3 -m verl.trainer.main_ppo a=1"; $CMD'],
    ['bash -c "cd /x && python3 -m verl.trainer.main_ppo a=1"'],
    ['docker exec c bash <<EOF\npython3 -m verl.trainer.main_ppo a=1\nEOF'],
    ['P=(python3 -u); "${P[@]}" -m verl.trainer.main_ppo a=1'],
    ['exec "$PY" -m verl.trainer.main_ppo a=1'],
    ['python3 verl/trainer/main_ppo.py a=1'],
    ['run() { python3 -m verl.trainer.main_ppo "$@"; }; run a=1'],
    ['(cd x; time python3 -m verl.trainer.main_ppo a=1)'],
    ['echo python3 -m verl.trainer.main_ppo z=1\npython3 -m verl.trainer.main_ppo a=1'],
    ['python3 -m verl.trainer.main_ppo --cfg job z=1\npython3 -m verl.trainer.main_ppo a=1'],
  ])('%s', (script) => {
    expect(words(script)).toEqual(['a=1'])
  })

  it('reads the job size from Slurm lines', () => {
    expect(
      words(
        '#SBATCH -N 2\n#SBATCH --gres=gpu:a100:4\npython3 -m verl.trainer.main_ppo n=$SLURM_NNODES g=$SLURM_GPUS_PER_NODE',
      ),
    ).toEqual(['n=2', 'g=4'])
  })
})
