import { readStored, writeStored } from './ui/browser-storage.ts'
import { Store } from './ui/store.ts'

export type Theme = 'system' | 'light' | 'dark'
interface Preferences {
  theme: Theme
  /** Single-key shortcuts. People who use speech input can turn them off. */
  hasLetterKeys: boolean
}

export const preferences = new Store<Preferences>({
  theme: (readStored('theme') as Theme | undefined) ?? 'system',
  hasLetterKeys: readStored('letter-keys') !== 'off',
})
export const hasLetterKeys = () => preferences.get().hasLetterKeys

export function setTheme(theme: Theme) {
  preferences.update((now) => ({ ...now, theme }))
  writeStored('theme', theme === 'system' ? undefined : theme)
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

export function setLetterKeys(hasLetterKeys: boolean) {
  preferences.update((now) => ({ ...now, hasLetterKeys }))
  writeStored('letter-keys', hasLetterKeys ? undefined : 'off')
}
