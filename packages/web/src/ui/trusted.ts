/**
 * Rules of a Trusted Types policy. The browser accepts HTML and script URLs only from policies that the page's
 * Content-Security-Policy names. Browsers without Trusted Types use the same rules, unenforced.
 */
interface PolicyRules {
  createHTML?: (text: string) => string
  createScriptURL?: (url: string) => string
}
interface TrustedTypes {
  createPolicy<R extends PolicyRules>(name: string, rules: R): R
}

/** A policy name can be used only once, so nothing else in the page can create the same policy. */
export function makePolicy<R extends PolicyRules>(name: 'lockstep-markdown' | 'lockstep-worker', rules: R): R {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  return trustedTypes?.createPolicy(name, rules) ?? rules
}

const OFFLINE_WORKER = '/app/offline.js'
const workers = makePolicy('lockstep-worker', {
  createScriptURL(url: string) {
    if (url !== OFFLINE_WORKER) throw new TypeError('This is not a script of the web client')
    return url
  },
})

export const offlineWorker = () => workers.createScriptURL(OFFLINE_WORKER)
