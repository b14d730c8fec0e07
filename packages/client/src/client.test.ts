import { startScenarioEnvironment } from '@lockstep/testing/client/scenario-environment'
import { closeAll, progressOfUpload, type ScenarioContext, scenarios } from '@lockstep/testing/client/scenarios'
import { afterAll, beforeAll, expect, test } from 'vitest'

let environment: Awaited<ReturnType<typeof startScenarioEnvironment>>
let context: ScenarioContext
beforeAll(async () => {
  environment = await startScenarioEnvironment()
  context = await environment.newContext()
})
afterAll(async () => {
  closeAll()
  await environment.stop()
})

test.concurrent.each(Object.entries(scenarios))('%s', (_, scenario) => scenario(context))

test('[SDK-10] progress is reported during the upload', async () => {
  expect((await progressOfUpload(context)).length).toBeGreaterThan(10)
})
