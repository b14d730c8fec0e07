import { Menu as BaseMenu } from '@base-ui/react/menu'
import { useCallback } from 'react'
import { Icon, type IconName } from './icon.tsx'
import { Keys } from './keys.tsx'
import type { MenuAnchor, MenuColors, MenuEntry } from './menu-types.ts'
import { tinted } from './people.tsx'

interface OpenMenuProps {
  label: string
  items: readonly MenuEntry[]
  anchor: MenuAnchor
  trigger: HTMLElement | null
  onClose: () => void
}

/** The menu of a menu button, while it is open. */
export function OpenMenu({ label, items, anchor, trigger, onClose }: OpenMenuProps) {
  // The first item takes the focus, however the menu was opened.
  const focusFirst = useCallback((popup: HTMLElement | null) => {
    popup?.querySelector<HTMLElement>('[role^=menuitem]:not([data-disabled])')?.focus({ preventScroll: true })
  }, [])
  return (
    <BaseMenu.Root
      open
      modal={false}
      onOpenChange={(_isOpen, details) => {
        // The button closes the menu itself.
        if (details.reason === 'outside-press' && trigger?.contains(details.event.target as Node)) details.cancel()
        else onClose()
      }}
    >
      <BaseMenu.Portal>
        <BaseMenu.Positioner anchor={anchor} className="positioner" sideOffset={4} align="start">
          <BaseMenu.Popup
            ref={focusFirst}
            className="layer menu"
            aria-label={label}
            finalFocus={() => trigger ?? false}
            onClick={(event) => event.stopPropagation()}
          >
            {items.map((item, i) => (
              <Entry key={typeof item === 'object' && 'label' in item ? item.label : i} item={item} />
            ))}
          </BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  )
}

function Entry({ item }: { item: MenuEntry }) {
  if (item === undefined) return <BaseMenu.Separator className="menu-separator" />
  if (typeof item === 'string') return <p className="menu-heading">{item}</p>
  if ('colors' in item) return <Colors {...item} />
  const { label, icon, color, keys, isDanger = false, isDisabled = false, isChecked, onSelect } = item
  const content = (
    <>
      <Picture icon={icon} color={color} />
      <span dir="auto">{label}</span>
      {keys && <Keys keys={keys} />}
    </>
  )
  if (isChecked !== undefined)
    return (
      <BaseMenu.CheckboxItem
        className="menu-item"
        label={label}
        checked={isChecked}
        disabled={isDisabled}
        onCheckedChange={onSelect}
      >
        {content}
        <BaseMenu.CheckboxItemIndicator className="menu-check">
          <Icon name="check" />
        </BaseMenu.CheckboxItemIndicator>
      </BaseMenu.CheckboxItem>
    )
  return (
    <BaseMenu.Item
      className={isDanger ? 'menu-item is-danger' : 'menu-item'}
      label={label}
      disabled={isDisabled}
      // After the menu has closed and returned the focus.
      onClick={() => setTimeout(onSelect)}
    >
      {content}
    </BaseMenu.Item>
  )
}

function Colors({ colors, chosen, onChoose }: MenuColors) {
  return (
    <BaseMenu.RadioGroup className="swatches" value={chosen} onValueChange={onChoose}>
      {colors.map(([name, color]) => (
        <BaseMenu.RadioItem
          key={color}
          value={color}
          label={name}
          className="swatch"
          aria-label={name}
          title={name}
          closeOnClick
          style={tinted(color)}
        />
      ))}
    </BaseMenu.RadioGroup>
  )
}

function Picture({ icon, color }: { icon: IconName | undefined; color: string | undefined }) {
  if (color !== undefined) return <span className="icon dot" style={tinted(color)} />
  return icon ? <Icon name={icon} /> : <span className="icon" />
}
