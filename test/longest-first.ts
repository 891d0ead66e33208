import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Takes minutes where others take seconds. */
const LONGEST = 'test/torch/unit.python.test.ts'

/** A clean tree has no record of how long its files take. The longest begins first, so as not to be left alone at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLongest = ({ moduleId }: TestSpecification) => moduleId.endsWith(LONGEST)
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))]
  }
}
