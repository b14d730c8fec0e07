/** Whether generated suites run at full size. Otherwise they run a sample. */
export const isFullSize = process.env['TEST_SIZE'] === 'full'

/** Chooses the samples. `npm test` derives it from the commit. */
export const SEED = Number(process.env['SEED'] ?? 1)

/** The message of an expectation that depends on the sample. */
export const REPEAT = `SEED=${SEED} repeats this sample`

/** One item of every `step`. Successive seeds choose all of them in turn. At full size: all. */
export const sampleOf = <T>(items: readonly T[], step: number): T[] =>
  isFullSize ? [...items] : items.filter((_, i) => (i + SEED) % step === 0)

/** One item of each group, chosen by the seed. At full size: all. */
export const oneOfEach = <T>(items: readonly T[], groupOf: (item: T) => string): T[] =>
  isFullSize
    ? [...items]
    : [...Map.groupBy(items, groupOf).values()].flatMap((group) => group.slice(SEED % group.length).slice(0, 1))
