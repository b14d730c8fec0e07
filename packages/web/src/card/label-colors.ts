import { t } from './messages.ts'

/** The colours that labels can have, by hue. */
export const labelColors: readonly (readonly [name: string, color: string])[] = [
  [t.red, '#d33a2c'],
  [t.orange, '#e06a1b'],
  [t.amber, '#c98a00'],
  [t.lime, '#7aa612'],
  [t.green, '#0b8f5a'],
  [t.teal, '#0e8f9c'],
  [t.sky, '#3aa3dc'],
  [t.blue, '#2f6fcc'],
  [t.violet, '#8455c9'],
  [t.pink, '#c23a86'],
  [t.brown, '#8a5a3c'],
  [t.grey, '#76736b'],
]

/** Five and twelve have no common divisor, so the first twelve labels differ, and neighbours differ clearly. */
const STEP = 5

/** The colour of the next new label. */
export const newLabelColor = (labelCount: number): string =>
  labelColors[(labelCount * STEP) % labelColors.length]?.[1] ?? ''
