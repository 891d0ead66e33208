/** Under this key (`Symbol.for`) a process answers which rollout an object belongs to. */
export const UNDER_WAY = 'trinity-rft.rollouts'
