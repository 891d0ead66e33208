import { rewardFn, rewardFns } from 'trinity-rft'
import { grade } from './grade.js'

rewardFns.add(
  'grade',
  rewardFn({
    doc: 'What grade.ts says of an answer.',
    score: ({ response, truth }) => ({ grade: grade(response, truth) }),
  }),
)
