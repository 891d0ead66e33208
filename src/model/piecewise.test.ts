import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ChatTemplate } from './chat-template.js'
import { markGeneration } from './generation-spans.js'
import { Piecewise } from './piecewise.js'
import { Template } from './python-jinja/index.js'

const isPiecewise = (source: string) => Piecewise.of(new Template(markGeneration(source)), ['bos_token']) !== undefined

const LOCAL = [
  "{{ bos_token }}{% for message in messages %}<{{ message.role }}>{{ message['content'] | trim }}\n{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}",
  "{% for m in messages %}{% if m['role'] == 'assistant' and m.learn != false %}{% generation %}{{ m['content'] }}{% endgeneration %}{% else %}{{ m['content'] }}{% endif %};{% endfor %}",
  '{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}{% for part in [1, 2] %}-{% endfor %}{% endif %}{% endfor %}',
]
const OTHERS = [
  '{% for m in messages %}{{ loop.index0 }}{{ m.content }}{% endfor %}',
  '{% for m in messages %}{% if m == messages[0] %}!{% endif %}{{ m.content }}{% endfor %}',
  '{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{{ ns.n }}{% endfor %}',
  '{% for m in messages %}{% set x = m.content %}{{ x }}{% endfor %}',
  '{% for m in messages %}{% if add_generation_prompt %}!{% endif %}{{ m.content }}{% endfor %}',
  "{% for m in messages %}{{ raise_exception('no') }}{% endfor %}",
  '{% for m in messages[1:] %}{{ m.content }}{% endfor %}',
  '{% for m in messages if m.content %}{{ m.content }}{% endfor %}',
  "{% for m in messages %}{% if m.role == 'user' %}{% break %}{% endif %}{{ m.content }}{% endfor %}",
  "{% for m in messages %}{% if m.role == 'user' %}{% continue %}{% endif %}{{ m.content }}{% endfor %}",
  '{{ messages | length }}{% for m in messages %}{{ m.content }}{% endfor %}',
]

describe('templates that write each message by itself', () => {
  it('are told from others', () => {
    expect(LOCAL.slice(0, 2).filter((source) => !isPiecewise(source))).toEqual([])
    expect(OTHERS.filter(isPiecewise)).toEqual([])
  })

  it('write what the whole template writes, again and again', () => {
    const message = fc.record(
      {
        role: fc.constantFrom('user', 'assistant'),
        content: fc.oneof(fc.string(), fc.constant('a\uE000\uF8FF\uE000b\uE000\uF8FF\uE000')),
        learn: fc.boolean(),
      },
      { requiredKeys: ['role', 'content'] },
    )
    fc.assert(
      fc.property(
        fc.constantFrom(...LOCAL, ...OTHERS.filter((source) => !/no\b/.test(source))),
        fc.array(message, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        (source, messages, addGenerationPrompt) => {
          const template = new ChatTemplate(source, { bos_token: '<s>' })
          // variables of the caller, if only an empty list, take the whole template
          const whole = template.renderSpans(messages, { addGenerationPrompt, variables: {} })
          expect(template.renderSpans(messages, { addGenerationPrompt })).toEqual(whole)
          expect(template.renderSpans(messages, { addGenerationPrompt })).toEqual(whole)
        },
      ),
      { numRuns: 200 },
    )
  })
})
