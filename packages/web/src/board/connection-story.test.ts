import { beforeEach, expect, test } from 'vitest'
import { ConnectionStory } from './connection-story.ts'

let story: ConnectionStory
let now = 0
beforeEach(() => {
  story = new ConnectionStory()
  now = 1_000_000
})
const live = (pending = 0) => story.tell({ phase: 'live', pending }, true, now)
const away = (pending = 0, is_device_online = true) =>
  story.tell({ phase: 'connecting', pending }, is_device_online, now)
const later = (ms: number) => {
  now += ms
}

test('[WEB-23] a drop of less than a second is not told, a longer one in a word, one of five seconds by a banner', () => {
  expect(live()).toEqual({ kind: 'live' })
  expect(away()).toEqual({ kind: 'live' })
  later(1_100)
  expect(away()).toEqual({ kind: 'reconnecting' })
  later(4_000)
  expect(away(2)).toEqual({ kind: 'offline', waiting: 2 })
})

test('[WEB-133] a first connection that takes longer than a second is not called a second one', () => {
  expect(away()).toEqual({ kind: 'live' })
  later(1_100)
  expect(away()).toEqual({ kind: 'connecting' })
  later(4_000)
  expect(away()).toEqual({ kind: 'offline', waiting: 0 })
  live()
  later(5_000)
  live()
  away()
  later(1_100)
  expect(away()).toEqual({ kind: 'reconnecting' })
})

test('[WEB-23] a device without a network is told at once', () => {
  expect(away(0, false)).toEqual({ kind: 'offline', waiting: 0 })
  expect(story.tell({ phase: 'live', pending: 1 }, false, now)).toEqual({ kind: 'offline', waiting: 1 })
})

test('[WEB-23] back again, it tells how many changes were sent and how many came, when all are with the server', () => {
  away(1, false)
  away(3, false)
  expect(live(3)).toEqual({ kind: 'reconnecting' })
  story.hear(now)
  story.hear(now)
  expect(live(1)).toEqual({ kind: 'reconnecting' })
  expect(live(0)).toEqual({ kind: 'back', sent: 3, received: 2 })
  story.hear(now)
  expect(live()).toEqual({ kind: 'back', sent: 3, received: 3 })
  later(2_000)
  story.hear(now)
  expect(live()).toEqual({ kind: 'back', sent: 3, received: 3 })
  later(3_000)
  expect(live()).toEqual({ kind: 'live' })
})

test('[WEB-23] nothing is told of a return from a drop that nobody was told of', () => {
  away(1)
  later(500)
  expect(live(0)).toEqual({ kind: 'live' })
})
