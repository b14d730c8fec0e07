import { CSPProvider } from '@base-ui/react/csp-provider'
import { Select as BaseSelect } from '@base-ui/react/select'
import { type Ref, useLayoutEffect, useState } from 'react'
import { Icon } from './icon.tsx'

export interface SelectOption<Value extends string = string> {
  value: Value
  label: string
  isDisabled?: boolean
}
interface SelectProps<Value extends string> {
  /** Accessible name. */
  label: string
  /** Shows the label above the field. */
  isLabelShown?: boolean
  value: Value
  options: readonly SelectOption<Value>[]
  onChange: (value: Value) => void
  /** Unlike a disabled field, it keeps the focus. */
  isReadOnly?: boolean
  /** The form is not submitted while the value is empty. */
  isRequired?: boolean
  /** Id of a hint. */
  describedBy?: string | undefined
  ref?: Ref<HTMLButtonElement>
}

/** A drop-down list with one choice. */
export function Select<Value extends string>({
  label,
  isLabelShown = false,
  value,
  options,
  onChange,
  isReadOnly = false,
  isRequired = false,
  describedBy,
  ref,
}: SelectProps<Value>) {
  // Base UI returns to the value of the first render when the chosen option disappears. Here the caller decides.
  const [isRendered, setRendered] = useState(false)
  useLayoutEffect(() => setRendered(true), [])
  return (
    // The content security policy forbids style elements.
    <CSPProvider disableStyleElements>
      <BaseSelect.Root<Value>
        items={options}
        value={isRendered ? value : null}
        readOnly={isReadOnly}
        required={isRequired}
        modal={false}
        onValueChange={(chosen) => {
          if (chosen !== null && chosen !== value) onChange(chosen)
        }}
      >
        {isLabelShown && <BaseSelect.Label>{label}</BaseSelect.Label>}
        <BaseSelect.Trigger
          ref={ref}
          className="input select"
          aria-label={isLabelShown ? undefined : label}
          aria-describedby={describedBy}
        >
          <BaseSelect.Value className="select-value" dir="auto" />
          <BaseSelect.Icon className="select-icon">
            <Icon name="down" />
          </BaseSelect.Icon>
        </BaseSelect.Trigger>
        <BaseSelect.Portal>
          <BaseSelect.Positioner
            className="positioner"
            sideOffset={4}
            collisionPadding={8}
            alignItemWithTrigger={false}
            align="start"
          >
            {/* A closed list stays in the document, so that typing chooses an option. It is no layer then. */}
            <BaseSelect.Popup className={({ open }) => (open ? 'layer menu select-menu' : 'menu select-menu')}>
              <BaseSelect.List aria-label={label}>
                {options.map((option) => (
                  <BaseSelect.Item
                    key={option.value}
                    className="menu-item"
                    value={option.value}
                    disabled={option.isDisabled ?? false}
                  >
                    <BaseSelect.ItemText dir="auto">{option.label}</BaseSelect.ItemText>
                    <BaseSelect.ItemIndicator className="menu-check">
                      <Icon name="check" />
                    </BaseSelect.ItemIndicator>
                  </BaseSelect.Item>
                ))}
              </BaseSelect.List>
            </BaseSelect.Popup>
          </BaseSelect.Positioner>
        </BaseSelect.Portal>
      </BaseSelect.Root>
    </CSPProvider>
  )
}
