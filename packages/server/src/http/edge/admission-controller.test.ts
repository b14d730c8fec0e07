import { fc, test as property } from '@fast-check/vitest'
import { describe, expect, test } from 'vitest'
import { Admission, type Place } from './admission-controller.ts'

/** A door with a clock of its own, and what became of whoever came. */
function door(places: number) {
  let now = 0
  const begun: { name: string; place: Place }[] = []
  const refused: string[] = []
  const admission = new Admission({ places, now: () => now })
  return {
    admission,
    refused,
    names: () => begun.map(({ name }) => name),
    place: (nth: number) => begun[nth]?.place as Place,
    come: (name: string, address = '') =>
      admission.enter(
        (place) => void begun.push({ name, place }),
        () => void refused.push(name),
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

describe('who is let in', () => {
  test('[LOAD-1] so many at a time; the others stand in line, and come in in their order', () => {
    const { come, names, place, admission } = door(2)
    for (const name of ['a', 'b', 'c', 'd']) come(name)
    expect(names()).toEqual(['a', 'b'])
    expect(admission.waiting).toBe(2)
    place(1).leave()
    place(0).leave()
    expect(names()).toEqual(['a', 'b', 'c', 'd'])
  })

  test('[LOAD-11] a place that becomes free goes to the address that has the fewest', () => {
    const { come, names, place } = door(2)
    for (const name of ['a1', 'a2', 'a3', 'a4']) come(name, 'a')
    come('b1', 'b')
    place(0).leave()
    expect(names()).toEqual(['a1', 'a2', 'b1'])
    place(1).leave()
    expect(names()).toEqual(['a1', 'a2', 'b1', 'a3'])
  })

  test('[LOAD-11] in a full line an address with few takes the room of one with many', () => {
    const { come, names, refused, place } = door(1)
    for (let i = 0; i <= 1_000; i++) come(`a${i}`, 'a')
    come('a1001', 'a')
    expect(refused).toEqual(['a1001'])
    come('b', 'b')
    expect(refused).toEqual(['a1001', 'a1000'])
    place(0).leave()
    place(1).leave()
    expect(names()).toEqual(['a0', 'a1', 'b'])
  })

  test('[LOAD-2] a rush is waited out for half a second', () => {
    const { come, names, refused, place, pass } = door(1)
    come('first')
    come('second')
    come('third')
    pass(490)
    place(0).leave()
    expect(names()).toEqual(['first', 'second'])
    pass(20)
    expect(refused).toEqual(['third'])
  })

  test('[LOAD-2] when there has been a line for longer, nobody waits longer than a tenth of one', () => {
    const { come, refused, pass } = door(1)
    come('first')
    come('second')
    pass(700)
    expect(refused).toEqual(['second'])
    come('late')
    pass(90)
    expect(refused).not.toContain('late')
    pass(20)
    expect(refused).toContain('late')
  })

  test('[LOAD-2] and the line is no longer than what was let in within that time: who comes on top hears it at once', () => {
    const { come, refused, names, place, pass } = door(1)
    come('first')
    come('second')
    pass(700)
    // Five are let in within a tenth of a second.
    for (let i = 0; i < 5; i++) {
      come(`soon ${i}`)
      place(names().length - 1).leave()
      pass(10)
    }
    expect(refused).toEqual(['second'])
    for (let i = 0; i < 8; i++) come(`many ${i}`)
    expect(names()).toHaveLength(6)
    expect(refused).toEqual(['second', 'many 5', 'many 6', 'many 7'])
  })

  test('[LOAD-2] half a second after the last was sent away everything is as before', () => {
    const { come, refused, place, pass } = door(1)
    come('first')
    come('second')
    pass(700)
    expect(refused).toEqual(['second'])
    place(0).leave()
    pass(600)
    come('third')
    come('fourth')
    pass(400)
    expect(refused).toEqual(['second'])
  })

  test('[LOAD-2] places that were all taken for longer are no line, as long as nobody waited', () => {
    const { come, refused, pass } = door(1)
    come('first')
    pass(700)
    for (const name of ['second', 'third', 'fourth']) come(name)
    pass(480)
    expect(refused).toEqual([])
  })

  test('[LOAD-1] a line of which everybody is answered at once is let in one after the other, and not within each other', () => {
    const admission = new Admission({ places: 1, now: () => 0 })
    let first: Place | undefined
    admission.enter(
      (place) => {
        first = place
      },
      () => {},
    )
    const depths: number[] = []
    const limit = Error.stackTraceLimit
    Error.stackTraceLimit = Number.POSITIVE_INFINITY
    for (let i = 0; i < 1_000; i++)
      admission.enter(
        (place) => {
          depths.push(new Error('here').stack?.split('\n').length ?? 0)
          place.leave()
        },
        () => {},
      )
    first?.leave()
    Error.stackTraceLimit = limit
    expect(depths).toHaveLength(1_000)
    expect(Math.max(...depths)).toBe(depths[0])
  })

  test('[LOAD-2] a line that is full takes nobody', () => {
    const { come, refused, admission } = door(1)
    for (let i = 0; i < 1_001; i++) come(String(i))
    expect(admission.waiting).toBe(1_000)
    expect(refused).toEqual([])
    come('one more')
    expect(refused).toEqual(['one more'])
  })

  test('[LOAD-1] nothing is done for somebody who has gone', () => {
    const { come, names, refused, place, pass } = door(1)
    come('first')
    const leave = come('gone')
    come('third')
    leave?.()
    place(0).leave()
    expect(names()).toEqual(['first', 'third'])
    pass(2_000)
    expect(refused).toEqual([])
  })

  test('[LOAD-5] whoever steps aside lends his place, and comes back without standing in line', () => {
    const { come, names, place } = door(1)
    come('first')
    come('second')
    come('third')
    place(0).stepAside()
    place(0).stepAside()
    expect(names()).toEqual(['first', 'second'])
    place(0).comeBack()
    place(1).leave()
    expect(names()).toEqual(['first', 'second'])
    place(0).leave()
    place(0).leave()
    place(0).comeBack()
    expect(names()).toEqual(['first', 'second', 'third'])
  })

  property.prop([
    fc.integer({ min: 1, max: 4 }),
    fc.array(fc.tuple(fc.constantFrom('come', 'leave', 'aside', 'back', 'pass', 'go'), fc.nat(300)), {
      maxLength: 200,
    }),
  ])(
    '[LOAD-1] [LOAD-2] [LOAD-6] whatever happens: each is let in or sent away once, in time and in order',
    (places, steps) => {
      let now = 0
      let came = 0
      const inside: { nth: number; place: Place; isAside: boolean; hadBack: boolean }[] = []
      const decided = new Map<number, number>()
      const came_at: number[] = []
      const left = new Set<number>()
      const goes: ((() => void) | undefined)[] = []
      const admission = new Admission({ places, now: () => now })
      const order: number[] = []
      for (const [step, value] of steps) {
        const one = inside[value % Math.max(1, inside.length)]
        if (step === 'come') {
          const nth = came++
          came_at.push(now)
          const decide = () => decided.set(nth, (decided.get(nth) ?? 0) + 1)
          goes.push(
            admission.enter((place) => {
              decide()
              order.push(nth)
              inside.push({ nth, place, isAside: false, hadBack: false })
            }, decide),
          )
        } else if (step === 'leave' && one) {
          inside.splice(inside.indexOf(one), 1)
          one.place.leave()
        } else if (step === 'aside' && one) {
          one.isAside = true
          one.place.stepAside()
        } else if (step === 'back' && one) {
          one.isAside = false
          one.hadBack = true
          one.place.comeBack()
        } else if (step === 'go' && came > 0) {
          const nth = value % came
          if (!decided.has(nth)) left.add(nth)
          goes[nth]?.()
        } else if (step === 'pass') {
          now += value
          admission.tick()
        }
        const held = inside.filter(({ isAside, hadBack }) => !isAside && !hadBack)
        expect(held.length).toBeLessThanOrEqual(places)
        for (let nth = 0; nth < came; nth++) {
          expect(decided.get(nth) ?? 0).toBeLessThanOrEqual(left.has(nth) ? 0 : 1)
          // The clock jumps by up to 300 ms before anybody looks at it.
          if (!decided.has(nth) && !left.has(nth)) expect(now - (came_at[nth] ?? 0)).toBeLessThanOrEqual(1_000)
        }
      }
      expect(order).toEqual(order.toSorted((a, b) => a - b))
    },
  )
})
