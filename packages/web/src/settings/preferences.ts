import { keep, readKept } from '../ui/kept.ts'
import { Store } from '../ui/store.ts'

export type Theme = 'system' | 'light' | 'dark'
interface Preferences {
  theme: Theme
  /** Single letters as shortcuts: whoever dictates can turn them off. */
  has_letter_keys: boolean
}

export const preferences = new Store<Preferences>({
  theme: (readKept('theme') as Theme | undefined) ?? 'system',
  has_letter_keys: readKept('letter-keys') !== 'off',
})
export const hasLetterKeys = () => preferences.get().has_letter_keys

export function setTheme(theme: Theme) {
  preferences.update((now) => ({ ...now, theme }))
  keep('theme', theme === 'system' ? undefined : theme)
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

export function setLetterKeys(has_letter_keys: boolean) {
  preferences.update((now) => ({ ...now, has_letter_keys }))
  keep('letter-keys', has_letter_keys ? undefined : 'off')
}
