import { showToast } from './toasts.tsx'

/** Copies text and confirms it. The clipboard is missing on pages without HTTPS, and the user may block it. */
export async function copyText(text: string, confirmation = 'Text copied') {
  try {
    await navigator.clipboard.writeText(text)
    showToast(confirmation)
  } catch {
    showToast('Couldn’t copy: the browser blocked clipboard access.')
  }
}
