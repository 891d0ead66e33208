import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { TrinityError } from '../../base/error.js'
import { ChatTemplate } from '../chat-template.js'

const big =
  "{% set ns = namespace(s='xxxxxxxxxxxxxxxx', l=[1]) %}{% for i in range(19) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}"
const manyLines = big.replace('xxxxxxxxxxxxxxxx', '\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n')
const loop = (body: string, count = 100_000) => `{% for i in range(${count}) %}${body}{% endfor %}`
const nested = (body: string) => loop(loop(loop(body)))

/** Each would take minutes or gigabytes without limits. */
const hostile: Readonly<Record<string, string>> = {
  'a long range': '{% for i in range(99999999) %}{% endfor %}',
  'a range that is not looped over': '{{ range(100001) | length }}',
  'a range down': '{{ range(0, -99999999, -1) | length }}',
  'a range of small steps': '{{ range(0, 1, 0.0000001) | length }}',
  'a range beyond exact integers': '{% for i in range(9007199254740992, 9007199254940994) %}{% endfor %}',
  'nested loops': nested('x'),
  'nested loops without a body': nested(''),
  'nested loops that end at once': nested('{% break %}'),
  'a loop over a list that its test empties': loop('{% for j in range(100000) if false %}{% endfor %}'),
  'doubling a list': `${big}{% for i in range(60) %}{% set ns.l = ns.l + ns.l %}{% endfor %}`,
  'doubling a text': "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
  concatenation: "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
  'numbers that become text':
    "{% set ns = namespace(s='1') %}{% for i in range(99) %}{% set ns.s = ns.s ~ 1 ~ ns.s %}{% endfor %}",
  'doubling in a block': "{% set a = 'x' * 1 if false else 'x' %}".concat(
    ...Array.from({ length: 40 }, () => '{% set a %}{{ a }}{{ a }}{% endset %}'),
  ),
  'long output': big + loop('{{ ns.s }}'),
  'output of two loops': big + loop(loop('{{ ns.s }}', 2), 3),
  'distinct long texts in a list': `${big}${loop('{% set ns.l = ns.l + [(ns.s[:7000000] ~ i).upper()] %}')}`,
  'joined texts': `${big}{{ [ns.s, ns.s, ns.s, ns.s] | join }}`,
  'a long separator': `${big}{{ range(100) | join(ns.s) }}`,
  'a list of lists that becomes text': `${big}{% set l = [ns.s, ns.s, ns.s, ns.s] %}{{ [l, l, l] ~ '' }}`,
  'a list that is compared with a text': `${big}{% set l = [ns.s, ns.s, ns.s, ns.s] %}{% for i in range(9) %}{{ [l, l] == 'x' }}{% endfor %}`,
  'exponential lists': `{% set a = ['x'] %}${'{% set a = [a, a] %}'.repeat(50)}{{ a }}`,
  'exponential JSON': `{% set a = ['x'] %}${'{% set a = [a, a] %}'.repeat(50)}{{ a | tojson }}`,
  'exponential text of a list': `{% set a = ['x'] %}${'{% set a = [a, a] %}'.repeat(50)}{{ a | string | length }}`,
  'an indent of JSON': '{{ [1] | tojson(indent=999999999) }}',
  'a separator of JSON': `${big}{{ range(100) | list | tojson(separators=[ns.s, ns.s]) }}`,
  'a namespace in itself': '{% set ns = namespace() %}{% set ns.x = ns %}{{ ns | tojson }}',
  'a wide indent': "{{ 'a\\nb' | indent(999999999) }}",
  'an indent of many lines': `${manyLines}{{ ns.s | indent(1000) | length }}`,
  'replacing by a longer text': `${big}{{ ns.s | replace('x', ns.s) | length }}`,
  'replacing nothing': `${big}{{ ns.s.replace('', ns.s) | length }}`,
  splitting: `${big}{{ ns.s.split('x') | length }}`,
  'splitting at blanks': `${manyLines.replaceAll('\\n', 'x ')}{{ ns.s.split() | length }}`,
  'methods on a long text': big + loop('{{ ns.s.upper() | length }}'),
  'a method that was kept': `${big}{% set f = ns.s.lower %}${loop('{{ f() | length }}')}`,
  'tests on a long text': big + loop('{{ ns.s is upper }}'),
  'equal texts': `${big}{% set a = ns.s ~ 'a' %}{% set b = ns.s ~ 'a' %}${loop('{{ a == b }}')}`,
  'a search that is quadratic': `${big}{% set half = 'b' ~ ns.s[:4000000] %}${loop('{{ half in ns.s }}')}`,
  'a split that is quadratic': `${big}{% set half = 'b' ~ ns.s[:4000000] %}${loop('{{ ns.s.split(half) | length }}')}`,
  'slices of a text': big + loop('{{ ns.s[::-1] | length }}'),
  'slices of a list': `{% set l = range(100000) %}${loop('{% set x = l[1:] %}')}`,
  'a text in a list': `{% set l = range(100000) %}${loop("{{ 'x' in l }}")}`,
  sorting: `{% set l = range(100000) %}${loop('{% set x = l | sort %}')}`,
  'sorting long texts': `${big}{% set l = [ns.s ~ 'a', ns.s ~ 'b', ns.s ~ 'c'] %}${loop('{% set x = l | sort %}')}`,
  'unique values': `{% set l = range(100000) %}${loop('{% set x = l | unique %}')}`,
  reversing: `{% set l = range(100000) %}${loop('{% set x = l | reverse %}')}`,
  'long attributes': `${big}{% set l = [[1], [1]] * 1 if false else [[1], [1]] %}${loop('{% set x = l | map(attribute=ns.s) %}')}`,
  'arguments that are spread': `{% macro f() %}{{ varargs | length }}{% endmacro %}${loop('{{ f(*range(100000)) }}')}`,
  'a namespace of many pairs': `{% set ns = namespace(l=[]) %}{% for i in range(9000) %}{% set ns.l = ns.l + [['a', 1]] %}{% endfor %}${loop('{% set x = namespace(ns.l) %}')}`,
  'a date that is formatted': loop("{{ strftime_now('%B') }}"),
  'a macro that calls itself': '{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}',
  'a macro that calls itself twice':
    '{% macro f(n) %}{% if n > 0 %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(40) }}',
  'macros that call each other':
    '{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{{ f() }}{% endmacro %}{{ f() }}',
  'defaults that call macros': `{% macro m0(x='x') %}{{ x }}{% endmacro %}${Array.from({ length: 40 }, (_, i) => `{% macro m${i + 1}(x=m${i}() ~ m${i}()) %}{% endmacro %}`).join('')}{{ m40() }}`,
  'callers that call':
    '{% macro f() %}{% call f() %}{{ caller() }}{% endcall %}{% endmacro %}{% call f() %}x{% endcall %}',
  'a large macro in a loop': loop(`{% macro f() %}${'{{ 1 + 1 }}'.repeat(2000)}{% endmacro %}`),
  'a list in a list in a list': `{% set ns = namespace(l=[]) %}${loop('{% set ns.l = [ns.l] %}')}{{ ns.l }}`,
  'an error of a long list': `${big}{% set l = [ns.s, ns.s, ns.s, ns.s] %}{{ raise_exception([l, l, l]) }}`,
  'blanks in the source': `{{ 1 }}${' '.repeat(200_000)}x`,
  'a long source': `{{ 1 }}${'x'.repeat(2_000_000)}`,
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

describe('a template that runs too long', () => {
  it.each(Object.entries(hostile))('is stopped in bounded time and memory: %s', (_, source) => {
    collect()
    const before = process.memoryUsage()
    const start = process.cpuUsage()
    let error: unknown
    try {
      new ChatTemplate(source, {}, 'bad.jinja').render([{ role: 'user', content: 'hello' }])
    } catch (thrown) {
      error = thrown
    }
    const { user } = process.cpuUsage(start)
    const after = process.memoryUsage()
    expect(error).toBeInstanceOf(TrinityError)
    expect(error).toMatchObject({ code: 'template/limit', path: 'bad.jinja' })
    // far below what they would take, far above what they take on a slow machine
    expect(user / 1e6).toBeLessThan(30)
    expect((after.heapUsed + after.external - before.heapUsed - before.external) / 2 ** 20).toBeLessThan(400)
  })

  it('leaves the next rendering its full budget', () => {
    const bad = new ChatTemplate(nested('x'))
    const good = new ChatTemplate('{% for i in range(100000) %}{{ i % 10 }}{% endfor %}')
    for (let i = 0; i < 3; i++) {
      expect(() => bad.render([{ role: 'user', content: '' }])).toThrow('limit')
      expect(good.render([{ role: 'user', content: '' }])).toHaveLength(100_000)
    }
  })

  it('does not stop long conversations', () => {
    const template = new ChatTemplate(
      "{% for m in messages %}{% if m.role == 'user' and loop.index0 >= 0 %}{{ '<u>' + m.content.strip() + '</u>' }}{% else %}{{ '<a>' ~ m.content.split('</think>')[-1] | trim ~ '</a>' }}{% endif %}{% endfor %}",
    )
    const many = Array.from({ length: 5000 }, (_, i) => ({
      role: i % 2 ? 'assistant' : 'user',
      content: `message ${i}`,
    }))
    expect(template.render(many).length).toBeGreaterThan(50_000)
    const text = 'word '.repeat(20_000)
    const long = Array.from({ length: 40 }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: text }))
    expect(template.render(long).length).toBeGreaterThan(3_900_000)
  })
})
