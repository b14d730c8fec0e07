import { showToast } from './toasts.tsx'

/** Copies a text, and says so. Browsers have no clipboard for pages that came without encryption, or may be told to refuse. */
export async function copyText(text: string, said = 'The text is copied.') {
  try {
    await navigator.clipboard.writeText(text)
    showToast(said)
  } catch {
    showToast('The browser does not let this page copy.')
  }
}
