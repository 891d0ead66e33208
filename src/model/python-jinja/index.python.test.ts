import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { torchTestPython } from '../../../test/support/python.js'
import { cases } from './cases.fixture.js'

const python = torchTestPython()
describe.skipIf(python.absent)(`the golden texts of templates${python.note}`, () => {
  it('are those of Transformers', { timeout: 120_000 }, async () => {
    const script = `
import json, sys
from transformers.utils.chat_template_utils import render_jinja_template
out = []
for case in json.loads(sys.argv[1]):
    for message in case["messages"]:
        for call in message.get("tool_calls") or []:
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    out.append(render_jinja_template([case["messages"]], chat_template=case["template"])[0][0])
print(json.dumps(out))
`
    const { stdout } = await promisify(execFile)(python.path, ['-c', script, JSON.stringify(cases)], { maxBuffer: 1e7 })
    expect(JSON.parse(stdout)).toEqual(cases.map(({ text }) => text))
  })
})
