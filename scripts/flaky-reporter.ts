import type { Reporter, TestCase } from 'vitest/node'

/** Lists flaky tests, which failed and then passed on the retry. Each is a defect of the test or of the service. */
export class FlakyReporter implements Reporter {
  private readonly names: string[] = []

  onTestCaseResult(test: TestCase) {
    if (test.diagnostic()?.flaky) this.names.push(`${test.module.relativeModuleId} > ${test.fullName}`)
  }

  onTestRunEnd() {
    if (this.names.length === 0) return
    console.log(`Flaky tests, passed on the retry: ${this.names.length}`)
    for (const name of this.names) console.log(`  ${name}`)
  }
}
