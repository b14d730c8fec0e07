import { fc, test as property } from '@fast-check/vitest'
import { describe, expect, test } from 'vitest'
import { AdmissionController, type Slot } from './admission-controller.ts'

/** An admission controller with a simulated clock, and what it decided about each request. */
function simulate(slots: number) {
  let now = 0
  const started: { name: string; slot: Slot }[] = []
  const rejected: string[] = []
  const admission = new AdmissionController({ slots, now: () => now })
  return {
    admission,
    rejected,
    names: () => started.map(({ name }) => name),
    slot: (nth: number) => started[nth]?.slot as Slot,
    send: (name: string, address = '') =>
      admission.request(
        (slot) => void started.push({ name, slot }),
        () => void rejected.push(name),
        address,
      ),
    pass: (ms: number) => {
      for (const until = now + ms; now < until; ) {
        now = Math.min(until, now + 10)
        admission.tick()
      }
    },
  }
}

describe('admission control', () => {
  test('[LOAD-1] a limited number of requests run at once; the others wait and start in order', () => {
    const { send, names, slot, admission } = simulate(2)
    for (const name of ['a', 'b', 'c', 'd']) send(name)
    expect(names()).toEqual(['a', 'b'])
    expect(admission.waiting).toBe(2)
    slot(1).close()
    slot(0).close()
    expect(names()).toEqual(['a', 'b', 'c', 'd'])
  })

  test('[LOAD-11] [LOAD-12] all shares of a request are released when it ends, once', () => {
    const { send, slot } = simulate(1)
    send('a')
    const released: string[] = []
    for (const share of ['requests', 'uploads']) slot(0).releaseOnClose(() => released.push(share))
    expect(released).toEqual([])
    slot(0).close()
    slot(0).close()
    expect(released).toEqual(['requests', 'uploads'])
    slot(0).releaseOnClose(() => released.push('late'))
    expect(released).toEqual(['requests', 'uploads', 'late'])
  })

  test('[LOAD-11] a free slot goes to the address with the fewest running requests', () => {
    const { send, names, slot } = simulate(2)
    for (const name of ['a1', 'a2', 'a3', 'a4']) send(name, 'a')
    send('b1', 'b')
    slot(0).close()
    expect(names()).toEqual(['a1', 'a2', 'b1'])
    slot(1).close()
    expect(names()).toEqual(['a1', 'a2', 'b1', 'a3'])
  })

  test('[LOAD-11] in a full queue a request of an address with few replaces one of an address with many', () => {
    const { send, names, rejected, slot } = simulate(1)
    for (let i = 0; i <= 1_000; i++) send(`a${i}`, 'a')
    send('a1001', 'a')
    expect(rejected).toEqual(['a1001'])
    send('b', 'b')
    expect(rejected).toEqual(['a1001', 'a1000'])
    slot(0).close()
    slot(1).close()
    expect(names()).toEqual(['a0', 'a1', 'b'])
  })

  test('[LOAD-2] a burst may wait for half a second', () => {
    const { send, names, rejected, slot, pass } = simulate(1)
    send('first')
    send('second')
    send('third')
    pass(490)
    slot(0).close()
    expect(names()).toEqual(['first', 'second'])
    pass(20)
    expect(rejected).toEqual(['third'])
  })

  test('[LOAD-2] in a standing queue a request waits at most 100 ms', () => {
    const { send, rejected, pass } = simulate(1)
    send('first')
    send('second')
    pass(700)
    expect(rejected).toEqual(['second'])
    send('late')
    pass(90)
    expect(rejected).not.toContain('late')
    pass(20)
    expect(rejected).toContain('late')
  })

  test('[LOAD-2] a standing queue is no longer than the number of requests started in 100 ms; others are rejected at once', () => {
    const { send, rejected, names, slot, pass } = simulate(1)
    send('first')
    send('second')
    pass(700)
    // Five are started within a tenth of a second.
    for (let i = 0; i < 5; i++) {
      send(`soon ${i}`)
      slot(names().length - 1).close()
      pass(10)
    }
    expect(rejected).toEqual(['second'])
    for (let i = 0; i < 8; i++) send(`many ${i}`)
    expect(names()).toHaveLength(6)
    expect(rejected).toEqual(['second', 'many 5', 'many 6', 'many 7'])
  })

  test('[LOAD-2] half a second after the last rejection a burst may wait again', () => {
    const { send, rejected, slot, pass } = simulate(1)
    send('first')
    send('second')
    pass(700)
    expect(rejected).toEqual(['second'])
    slot(0).close()
    pass(600)
    send('third')
    send('fourth')
    pass(400)
    expect(rejected).toEqual(['second'])
  })

  test('[LOAD-2] slots that were all in use for longer are not a standing queue if no request waited', () => {
    const { send, rejected, pass } = simulate(1)
    send('first')
    pass(700)
    for (const name of ['second', 'third', 'fourth']) send(name)
    pass(480)
    expect(rejected).toEqual([])
  })

  test('[LOAD-1] queued requests that end at once are started in a loop, not recursively', () => {
    const admission = new AdmissionController({ slots: 1, now: () => 0 })
    let first: Slot | undefined
    admission.request(
      (slot) => {
        first = slot
      },
      () => {},
    )
    const depths: number[] = []
    const limit = Error.stackTraceLimit
    Error.stackTraceLimit = Number.POSITIVE_INFINITY
    for (let i = 0; i < 1_000; i++)
      admission.request(
        (slot) => {
          depths.push(new Error('here').stack?.split('\n').length ?? 0)
          slot.close()
        },
        () => {},
      )
    first?.close()
    Error.stackTraceLimit = limit
    expect(depths).toHaveLength(1_000)
    expect(Math.max(...depths)).toBe(depths[0])
  })

  test('[LOAD-2] a full queue rejects at once', () => {
    const { send, rejected, admission } = simulate(1)
    for (let i = 0; i < 1_001; i++) send(String(i))
    expect(admission.waiting).toBe(1_000)
    expect(rejected).toEqual([])
    send('one more')
    expect(rejected).toEqual(['one more'])
  })

  test('[LOAD-1] an aborted request is neither started nor rejected', () => {
    const { send, names, rejected, slot, pass } = simulate(1)
    send('first')
    const abort = send('aborted')
    send('third')
    abort?.()
    slot(0).close()
    expect(names()).toEqual(['first', 'third'])
    pass(2_000)
    expect(rejected).toEqual([])
  })

  test('[LOAD-5] a released slot is used by others and reacquired without queueing', () => {
    const { send, names, slot } = simulate(1)
    send('first')
    send('second')
    send('third')
    slot(0).release()
    slot(0).release()
    expect(names()).toEqual(['first', 'second'])
    slot(0).reacquire()
    slot(1).close()
    expect(names()).toEqual(['first', 'second'])
    slot(0).close()
    slot(0).close()
    slot(0).reacquire()
    expect(names()).toEqual(['first', 'second', 'third'])
  })

  property.prop([
    fc.integer({ min: 1, max: 4 }),
    fc.array(fc.tuple(fc.constantFrom('send', 'close', 'release', 'reacquire', 'pass', 'abort'), fc.nat(300)), {
      maxLength: 200,
    }),
  ])(
    '[LOAD-1] [LOAD-2] [LOAD-6] in any sequence of steps each request is started or rejected once, in time and in order',
    (slots, steps) => {
      let now = 0
      let sent = 0
      const running: { nth: number; slot: Slot; isReleased: boolean; wasReacquired: boolean }[] = []
      const decided = new Map<number, number>()
      const sentAt: number[] = []
      const aborted = new Set<number>()
      const aborts: ((() => void) | undefined)[] = []
      const admission = new AdmissionController({ slots, now: () => now })
      const order: number[] = []
      for (const [step, value] of steps) {
        const one = running[value % Math.max(1, running.length)]
        if (step === 'send') {
          const nth = sent++
          sentAt.push(now)
          const decide = () => decided.set(nth, (decided.get(nth) ?? 0) + 1)
          aborts.push(
            admission.request((slot) => {
              decide()
              order.push(nth)
              running.push({ nth, slot, isReleased: false, wasReacquired: false })
            }, decide),
          )
        } else if (step === 'close' && one) {
          running.splice(running.indexOf(one), 1)
          one.slot.close()
        } else if (step === 'release' && one) {
          one.isReleased = true
          one.slot.release()
        } else if (step === 'reacquire' && one) {
          one.isReleased = false
          one.wasReacquired = true
          one.slot.reacquire()
        } else if (step === 'abort' && sent > 0) {
          const nth = value % sent
          if (!decided.has(nth)) aborted.add(nth)
          aborts[nth]?.()
        } else if (step === 'pass') {
          now += value
          admission.tick()
        }
        const held = running.filter(({ isReleased, wasReacquired }) => !isReleased && !wasReacquired)
        expect(held.length).toBeLessThanOrEqual(slots)
        for (let nth = 0; nth < sent; nth++) {
          expect(decided.get(nth) ?? 0).toBeLessThanOrEqual(aborted.has(nth) ? 0 : 1)
          // The clock may jump by up to 300 ms between two steps.
          if (!decided.has(nth) && !aborted.has(nth)) expect(now - (sentAt[nth] ?? 0)).toBeLessThanOrEqual(1_000)
        }
      }
      expect(order).toEqual(order.toSorted((a, b) => a - b))
    },
  )
})
