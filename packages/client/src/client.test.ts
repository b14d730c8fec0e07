import { closeAll, progressOfUpload, type Setting, scenarios } from '@lockstep/testing/client/scenarios'
import { startSetting } from '@lockstep/testing/client/setting'
import { afterAll, beforeAll, expect, test } from 'vitest'

let started: Awaited<ReturnType<typeof startSetting>>
let setting: Setting
beforeAll(async () => {
  started = await startSetting()
  setting = await started.setting()
}, 60_000)
afterAll(async () => {
  closeAll()
  await started.stop()
})

test.concurrent.each(Object.entries(scenarios))('%s', (_, scenario) => scenario(setting))

test('[SDK-10] progress is told while the file is on its way', async () => {
  expect((await progressOfUpload(setting)).length).toBeGreaterThan(10)
})
