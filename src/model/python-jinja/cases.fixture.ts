import type { ChatMessage } from '../chat-template.js'

const call = (args: unknown) => [{ function: { name: 'f', arguments: args } }]
const json =
  '{"a": 1.0, "b": 1e-07, "c": [2, 2.50, -0.0, 1e3, 1E+22, 12345678901234567890.0], "d": {"e": null, "f": true}, "g": "1.0 \\" é"}'

/** Templates, messages, and what Python's Jinja makes of them (index.python.test.ts asks it). */
export const cases: readonly { template: string; messages: ChatMessage[]; text: string }[] = [
  {
    template:
      "{{ messages[0].content.strip('\\n') }}|{{ messages[0].content.lstrip('\\n') }}|{{ messages[0].content.rstrip('y\\n') }}",
    messages: [{ role: 'user', content: '\n\n    x y\n' }],
    text: '    x y|    x y\n|\n\n    x ',
  },
  {
    template: '{{ messages[0].content.strip() }}|{{ messages[0].content | trim }}|{{ messages[0].content.lstrip() }}',
    messages: [{ role: 'user', content: '\u0085\x1c \uFEFFx\u0085 ' }],
    text: '\uFEFFx|\uFEFFx|\uFEFFx\u0085 ',
  },
  {
    template: '{{ messages[0].tool_calls[0].function.arguments | tojson }}',
    messages: [{ role: 'assistant', content: '', tool_calls: call(json) }],
    text: '{"a": 1.0, "b": 1e-07, "c": [2, 2.5, -0.0, 1000.0, 1e+22, 1.2345678901234567e+19], "d": {"e": null, "f": true}, "g": "1.0 \\" é"}',
  },
  {
    template:
      '{{ messages[0].tool_calls[0].function.arguments | tojson(indent=2) }}{{ messages[0].tool_calls[0].function.arguments }}',
    messages: [{ role: 'assistant', content: '', tool_calls: call('{"a": [1.0, {}], "b": []}') }],
    text: '{\n  "a": [\n    1.0,\n    {}\n  ],\n  "b": []\n}{\'a\': [1.0, {}], \'b\': []}',
  },
  {
    template:
      "{{ messages | selectattr('name', 'undefined') | list | length }} {{ messages | selectattr('name', 'defined') | list | length }} {{ messages | rejectattr('name', 'undefined') | list | length }} {{ messages | selectattr('name') | list | length }} {{ (messages | selectattr('role', 'equalto', 'user') | list | length) }}",
    messages: [
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b', name: 'n' },
      { role: 'note', content: 'c', name: '' },
    ],
    text: '1 2 2 1 2',
  },
  {
    template:
      '{% for m in messages %}{{ m.content }};{% endfor %}{{ missing }}{% set x = none %}{{ true }} {{ 0.1 + 0.2 }}',
    messages: [
      { role: 'user', content: null },
      { role: 'user', content: [{ type: 'text', text: 'it\'s "é"\n\\' }, 1, 0.5, true, null] },
      { role: 'user', content: { a: 'x' } as never },
    ],
    text: "None;[{'type': 'text', 'text': 'it\\'s \"é\"\\n\\\\'}, 1, 0.5, True, None];{'a': 'x'};True 0.30000000000000004",
  },
]
