import type { IconName } from './icon.tsx'

export interface MenuItem {
  label: string
  onSelect: () => void
  icon?: IconName
  /** Shows a dot in this colour instead of an icon. */
  color?: string
  /** The shortcut for the same action. */
  keys?: string
  isDanger?: boolean
  isDisabled?: boolean
  /** Makes it a checkbox. The menu stays open when it is chosen. */
  isChecked?: boolean
}
/** A row of colours, of which one is chosen. */
export interface MenuColors {
  colors: readonly (readonly [name: string, color: string])[]
  chosen: string
  onChoose: (color: string) => void
}
/** A text is a heading, `undefined` is a separator. */
export type MenuEntry = MenuItem | MenuColors | string | undefined

/** An element, or a point of the window. */
export type MenuAnchor = Element | { getBoundingClientRect: () => DOMRect }
