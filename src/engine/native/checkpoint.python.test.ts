import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { torchTestPython } from '../../../test/support/python.js'
import { saveEveryWay } from '../../../test/support/saved-models.js'
import { tempDir } from '../../../test/support/temp-dir.js'
import { families } from '../../model/architecture.js'

/** Loads every directory as strictly as the installed release does; errors by directory. */
const script = `
import json, sys
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForTokenClassification, GenerationConfig, logging
logging.set_verbosity_error()
failed = {}
for path in sys.argv[1:]:
    kind = AutoModelForTokenClassification if "-critic" in path else AutoModelForCausalLM
    try:
        config = AutoConfig.from_pretrained(path)
        config.to_json_string()
        # Transformers has no token classifier of some families
        if type(config) not in kind._model_mapping:
            continue
        model, report = kind.from_pretrained(path, output_loading_info=True)
        left = sorted(report["missing_keys"]) + sorted(report["unexpected_keys"])
        assert left == [], left
        GenerationConfig.from_pretrained(path).validate(strict=True)
    except Exception as error:
        failed[path] = f"{type(error).__name__}: {error}"[:400]
print(json.dumps(failed))
`

const python = torchTestPython()
describe.skipIf(python.absent)(`saved model directories in Transformers${python.note}`, () => {
  it('loads all families and ways to save strictly', { timeout: 300_000 }, async () => {
    const root = await tempDir()
    const dirs: string[] = []
    for (const arch of families) dirs.push(...Object.values(await saveEveryWay(root, arch)))
    expect(new Set(dirs).size).toBeGreaterThan(families.length * 6)
    const env = { ...process.env, OMP_NUM_THREADS: '1' }
    const { stdout } = await promisify(execFile)(python.path, ['-c', script, ...dirs], { env })
    expect(JSON.parse(stdout)).toEqual({})
  })
})
