/**
 * Tests that may fail for a while, because somebody is looking for the cause. At most 14 days: a test that fails has found a
 * defect, of the product or of itself.
 */
export const QUARANTINE: readonly { test: string; reason: string; until: string }[] = []
