import {CohereClientV2, CohereError} from 'cohere-ai'
import * as cohere from 'cohere-ai'
import {chaosHeader, checks, model, url} from './support.mjs'

const client = new CohereClientV2({token: 'none', environment: url})
const {Cohere} = cohere
const classes = {400: Cohere.BadRequestError, 401: Cohere.UnauthorizedError, 404: Cohere.NotFoundError, 429: Cohere.TooManyRequestsError, 500: Cohere.InternalServerError}

checks('cohere', {
  user: prompt => [{role: 'system', content: 'Obey.'}, {role: 'user', content: prompt}],
  async ask(messages, {stream, tools, schema, chaos, model: name = model}) {
    const request = {model: name, messages}
    if (tools) request.tools = tools.map(t => ({type: 'function', function: {name: t.name, description: t.description, parameters: t.schema}}))
    if (schema) request.responseFormat = {type: 'json_object', jsonSchema: schema}
    const options = {maxRetries: 0, headers: chaos ? {[chaosHeader]: chaos} : {}}
    if (!stream) {
      const {message, usage} = await client.chat(request, options)
      return read(message.content?.map(c => c.text ?? '').join('') ?? '', message.toolCalls ?? [], 1, usage)
    }
    let text = ''
    let pieces = 0
    let usage
    const calls = []
    for await (const e of await client.chatStream(request, options)) {
      const delta = e.delta?.message
      if (e.type === 'content-delta') {
        text += delta.content.text
        pieces++
      }
      if (e.type === 'tool-call-start') calls[e.index] = structuredClone(delta.toolCalls)
      if (e.type === 'tool-call-delta') calls[e.index].function.arguments += delta.toolCalls.function.arguments
      if (e.type === 'message-end') usage = e.delta.usage
    }
    return read(text, calls, pieces, usage)
  },
  answer: (messages, reply, results) => [...messages, {role: 'assistant', toolCalls: reply.state},
    ...results.map((content, i) => ({role: 'tool', toolCallId: reply.calls[i].id, content}))],
  error: err => err instanceof CohereError && err instanceof (classes[err.statusCode] ?? Array) ? {status: err.statusCode} : null,
})

function read(text, calls, pieces, usage) {
  return {
    text, pieces, state: calls, calls: calls.map(c => ({id: c.id, name: c.function.name, args: JSON.parse(c.function.arguments)})),
    input: usage.tokens.inputTokens, output: usage.tokens.outputTokens,
  }
}
