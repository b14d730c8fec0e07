import type { FastifySwaggerUiOptions } from '@fastify/swagger-ui'

type Json = Record<string, unknown>

/** A copy of the OpenAPI document without the cookie: the browser sends it by itself, and a page cannot set it. */
export function withoutCookie(document: Json): Json {
  return JSON.parse(
    JSON.stringify(document, (name, value) => {
      if (name === 'securitySchemes') return { ...value, cookie: undefined }
      return name === 'security' ? value.filter((scheme: Json) => !('cookie' in scheme)) : value
    }),
  )
}

interface Page {
  React: { createElement: (type: unknown, props: object) => unknown }
}

/**
 * The settings of Swagger UI. Its functions are sent to the browser as source text, so they use nothing from this
 * module.
 */
export const swaggerConfig = (isTokenKept: boolean): NonNullable<FastifySwaggerUiOptions['uiConfig']> => ({
  layout: 'BaseLayout',
  persistAuthorization: isTokenKept,
  displayRequestDuration: true,
  docExpansion: 'list',
  validatorUrl: null,
  // Swagger UI shows the status text of a failed login, which has no words in HTTP/2 and not ours in HTTP/1.1.
  responseInterceptor: (response) => {
    try {
      const { ok, text, statusText } = response
      if (!ok) Object.assign(response, { statusText: JSON.parse(text).detail ?? statusText })
    } catch {}
    return response
  },
  plugins: [
    () => ({
      wrapComponents: {
        // The field for a token takes the focus from the password form above it.
        Input:
          (Input: unknown, { React }: Page) =>
          (props: object) =>
            React.createElement(Input, { ...props, autoFocus: false }),
      },
    }),
  ],
})
