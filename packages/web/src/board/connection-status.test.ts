import { beforeEach, expect, test } from 'vitest'
import { ConnectionMonitor } from './connection-status.ts'

let monitor: ConnectionMonitor
let now = 0
beforeEach(() => {
  monitor = new ConnectionMonitor()
  now = 1_000_000
})
const live = (pending = 0) => monitor.update({ phase: 'live', pending, reason: undefined }, true, now)
const away = (pending = 0, isDeviceOnline = true) =>
  monitor.update({ phase: 'connecting', pending, reason: undefined }, isDeviceOnline, now)
const later = (ms: number) => {
  now += ms
}

test('[WEB-23] an interruption of less than a second is not shown, a longer one in the status, after five seconds in a banner', () => {
  expect(live()).toEqual({ kind: 'live' })
  expect(away()).toEqual({ kind: 'live' })
  later(1_100)
  expect(away()).toEqual({ kind: 'reconnecting' })
  later(4_000)
  expect(away(2)).toEqual({ kind: 'offline', waiting: 2 })
})

test('[WEB-57] the end of the session is not shown as an interruption', () => {
  live()
  const ended = () => monitor.update({ phase: 'closed', pending: 1, reason: 'unauthorized' }, true, now)
  expect(ended()).toEqual({ kind: 'live' })
  later(10_000)
  expect(ended()).toEqual({ kind: 'live' })
})

test('[WEB-133] a slow first connection is shown as connecting, not as reconnecting', () => {
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

test('[WEB-23] a device without a network is offline at once', () => {
  expect(away(0, false)).toEqual({ kind: 'offline', waiting: 0 })
  expect(monitor.update({ phase: 'live', pending: 1, reason: undefined }, false, now)).toEqual({
    kind: 'offline',
    waiting: 1,
  })
})

test('[WEB-23] after a reconnect, the numbers of sent and received changes are shown once all are confirmed', () => {
  away(1, false)
  away(3, false)
  expect(live(3)).toEqual({ kind: 'reconnecting' })
  monitor.onRemoteChange(now)
  monitor.onRemoteChange(now)
  expect(live(1)).toEqual({ kind: 'reconnecting' })
  expect(live(0)).toEqual({ kind: 'back', sent: 3, received: 2 })
  monitor.onRemoteChange(now)
  expect(live()).toEqual({ kind: 'back', sent: 3, received: 3 })
  later(2_000)
  monitor.onRemoteChange(now)
  expect(live()).toEqual({ kind: 'back', sent: 3, received: 3 })
  later(3_000)
  expect(live()).toEqual({ kind: 'live' })
})

test('[WEB-244] changes that wait for five seconds while the connection works are shown, until one is confirmed', () => {
  live()
  later(60_000)
  expect(live(2)).toEqual({ kind: 'live' })
  later(4_900)
  expect(live(2)).toEqual({ kind: 'live' })
  later(100)
  expect(live(3)).toEqual({ kind: 'saving' })
  expect(live(2)).toEqual({ kind: 'live' })
  later(5_000)
  expect(live(2)).toEqual({ kind: 'saving' })
  expect(live()).toEqual({ kind: 'live' })
})

test('[WEB-23] the return from an interruption that was not shown is not shown either', () => {
  away(1)
  later(500)
  expect(live(0)).toEqual({ kind: 'live' })
})
