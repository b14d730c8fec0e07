import { expect, test } from 'vitest'
import { Gate } from './gate.ts'
import { Problem } from './problem.ts'

test('[LOAD-6] a gate whose line is full sends away at once', async () => {
  const gate = new Gate(1, { waiting: 1, wait_ms: 10_000, refuse: () => new Problem('overloaded') })
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = gate.pass(() => promise)
  const second = gate.pass(async () => 'second')
  await expect(gate.pass(async () => 'third')).rejects.toMatchObject({ code: 'overloaded' })
  resolve()
  await first
  expect(await second).toBe('second')
  expect(await gate.pass(async () => 'fourth')).toBe('fourth')
})
