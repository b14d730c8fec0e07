import type { Reporter, TestCase } from 'vitest/node'

/** Lists the tests that failed and then passed when they were run again: each is a defect of the test or of the service. */
export class FlakyReporter implements Reporter {
  private readonly names: string[] = []

  onTestCaseResult(test: TestCase) {
    if (test.diagnostic()?.flaky) this.names.push(`${test.module.relativeModuleId} > ${test.fullName}`)
  }

  onTestRunEnd() {
    if (this.names.length === 0) return
    console.log(`Flaky, passed at the second attempt: ${this.names.length}`)
    for (const name of this.names) console.log(`  ${name}`)
  }
}
