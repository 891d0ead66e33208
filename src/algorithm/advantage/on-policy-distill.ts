import { z } from 'zod'
import { advantageFn, assign, tokenInput } from './advantage.js'
import { meanOf, sampleStd } from './statistics.js'

/**
 * On-policy distillation: A = kl_coef·(teacher − old) at each token the model produced. No reward is needed.
 * The metrics are of sums over each sequence.
 */
export const onPolicyDistill = advantageFn({
  doc: "teacher's log-prob minus the student's, per token",
  where: 'trainer',
  needs: ['logprobs', 'teacherLogprobs'],
  args: z.strictObject({
    kl_coef: z.number().default(1).describe('Factor of the difference between teacher and student.'),
  }),
  compute(experiences, { kl_coef }) {
    const kl: number[] = []
    const result = experiences.map((experience) => {
      const { actionMask: mask } = experience
      const student = tokenInput(experience, 'logprobs')
      const teacher = tokenInput(experience, 'teacherLogprobs')
      const advantages = new Float32Array(mask.length)
      let sum = 0
      for (let i = 0; i < mask.length; i++) {
        if (mask[i] === 0) continue
        sum += teacher[i] - student[i]
        advantages[i] = kl_coef * (teacher[i] - student[i])
      }
      kl.push(-sum)
      return assign(experience, advantages)
    })
    const mean = meanOf(kl)
    const metrics = { 'kl/mean': mean, 'kl/std': sampleStd(kl), 'advantages/mean': -kl_coef * mean + 0 }
    return { experiences: result, metrics }
  },
})
