import { endProcesses } from '@lockstep/testing/processes'
import { findMutation } from '../mutations/find-mutation.ts'
import { mutations } from '../mutations/list.ts'
import { Worktree } from '../mutations/worktree.ts'
import { atMost, collectFigures, info, type Progress, type Report } from './report.ts'

/** Of 25. */
const MOST_MISSED = 3
const words = process.env['ONLY']?.split(',')
const chosen = mutations.filter(({ name }) => words?.some((word) => name.includes(word)) ?? true)

/** What the tests of a submission notice: each of the worst defects of the past, brought back alone. */
export async function prove(progress: Progress): Promise<Report> {
  const { figures, violations, add, fail } = collectFigures(progress)
  let missed = 0
  const worktree = await Worktree.open()
  try {
    for (const mutation of chosen) {
      const { name, fixedBy } = mutation
      const began = performance.now()
      const found = findMutation(worktree, mutation)
      const seconds = Math.round((performance.now() - began) / 1_000)
      if (!found || found.tier === 'full size') missed++
      if (found?.alsoFailsWithout) fail(`${name}: without it this test fails, too: ${found.test}`)
      const value = found ? `${found.tier}, ${seconds} s: ${found.test} (${found.file ?? 'no file'})` : 'not found'
      add({ what: `${name} (${fixedBy})`, value: value.replaceAll('|', '/') })
    }
  } finally {
    worktree.close()
    await endProcesses()
  }
  add(info('mutations', chosen.length))
  add(atMost('mutations that no test of a submission finds', missed, MOST_MISSED))
  return { figures, violations }
}
