/**
 * Twelve colours that are told apart in both themes. White initials on each have a contrast of at least 4.5:1, which
 * `contrast.test.ts` computes.
 */
export const personColors = [
  ...['#cf2f3b', '#b5520a', '#7d5a3c', '#6c7400', '#157f3d', '#007d80'],
  ...['#0273b8', '#3f5fd0', '#7f4fd8', '#9636a0', '#c92a78', '#5f6977'],
] as const

/** The colour of an automation rule. */
export const RULE_COLOR = '#6a655a'

/** The colour of a user, from their id alone: the same on every page and every board. Two users may have the same one. */
export function personColor(user_id: string): string {
  let hash = 0
  for (const char of user_id) hash = (Math.imul(hash, 31) + char.charCodeAt(0)) >>> 0
  return personColors[hash % personColors.length] as string
}
