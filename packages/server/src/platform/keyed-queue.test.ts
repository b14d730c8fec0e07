import { describe, expect, test } from 'vitest'
import { boardQueue } from '../core/board-queue.ts'

describe('the queue of a board', () => {
  test('[WRITE-11] a task that releases its key starts exactly one other, however often it releases and however it ends', async () => {
    const queue = boardQueue(10_000)
    const started: string[] = []
    const { promise: isCommitted, resolve: commit } = Promise.withResolvers<void>()
    const run = (name: string, end: () => Promise<void>) =>
      queue.run('hot', (release) => {
        started.push(name)
        if (name !== 'second') release()
        if (name === 'first') release()
        return end()
      })
    const first = run('first', () => isCommitted)
    const second = run('second', () => isCommitted)
    const third = run('third', () => Promise.reject(new Error('failed')))
    const fourth = run('fourth', async () => {})
    const failed = expect(third).rejects.toThrow('failed')
    await new Promise(setImmediate)
    expect(started).toEqual(['first', 'second'])
    commit()
    await Promise.all([first, second, failed, fourth])
    expect(started).toEqual(['first', 'second', 'third', 'fourth'])
    expect(queue.waiting).toBe(0)
  })

  test('[LOAD-6] 500 changes may wait for one board, one more is rejected; other boards have their own queue', async () => {
    const queue = boardQueue(10_000)
    const { promise, resolve } = Promise.withResolvers<void>()
    const all = Array.from({ length: 501 }, () => queue.run('hot', () => promise))
    await expect(queue.run('hot', () => promise)).rejects.toMatchObject({ code: 'board_busy' })
    expect(await queue.run('quiet', async () => 'done')).toBe('done')
    resolve()
    await Promise.all(all)
    expect(await queue.run('hot', async () => 'done')).toBe('done')
  })
})
