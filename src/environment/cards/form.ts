/** How replies in the worlds of Gym-Card look. */
export const FORM = `Answer with a JSON object that holds your thoughts and one action: {"thoughts": "…", "action": "…"}`
