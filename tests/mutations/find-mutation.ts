import { dirname } from 'node:path'
import { allFiles, suitesFor } from '../../scripts/suites.ts'
import type { Mutation } from './list.ts'
import type { Failure, Worktree } from './worktree.ts'

interface Tier {
  tier: 'its folder' | 'submission' | 'full size'
  args: string[]
  env?: NodeJS.ProcessEnv
}

/** Where a test noticed a mutation, and whether it also fails without the mutation. */
export interface Finding extends Failure, Pick<Tier, 'tier'> {
  alsoFailsWithout: boolean
}

/** Looks for a test that a mutation makes fail, in one tier after the other. */
export function findMutation(worktree: Worktree, mutation: Mutation): Finding | undefined {
  // The same samples of the matrices with and without the mutation.
  const SEED = worktree.apply(mutation)
  for (const { tier, args, env } of tiersFor(mutation.file)) {
    const failure = worktree.firstFailure(args, { ...env, SEED })
    if (!failure) continue
    worktree.reset()
    const again = failure.file === undefined ? args : [failure.file]
    return { ...failure, tier, alsoFailsWithout: worktree.firstFailure(again, { ...env, SEED }) !== undefined }
  }
  return undefined
}

/** The tests in the folder of the file are part of the submission, and come first because they take seconds. */
function tiersFor(file: string): Tier[] {
  const folder = `${dirname(file)}/`
  const tiers: Tier[] = [{ tier: 'submission', args: ['--submission'] }]
  if (allFiles().some((each) => each.includes(folder))) tiers.unshift({ tier: 'its folder', args: [folder] })
  for (const suite of suitesFor([file]))
    tiers.push({ tier: 'full size', args: ['--suite', suite], env: { TEST_SIZE: 'full' } })
  return tiers
}
