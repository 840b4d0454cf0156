import assert from 'node:assert/strict'
import test from 'node:test'
import {
  BedrockRuntimeClient, BedrockRuntimeServiceException, ConverseCommand, ConverseStreamCommand, InvokeModelCommand, InvokeModelWithResponseStreamCommand,
  AccessDeniedException, InternalServerException, ThrottlingException, ValidationException,
} from '@aws-sdk/client-bedrock-runtime'
import {chaosHeader, checks, model, tool, url} from './support.mjs'

const protocols = new Set()

// The client speaks HTTP/2 over cleartext, as it does by default.
function connect(chaos) {
  const client = new BedrockRuntimeClient({region: 'us-east-1', endpoint: url, credentials: {accessKeyId: 'none', secretAccessKey: 'none'}, maxAttempts: 1})
  client.middlewareStack.add(next => async args => {
    if (chaos) args.request.headers[chaosHeader] = chaos
    return next(args)
  }, {step: 'build'})
  protocols.add(client.config.requestHandler.metadata?.handlerProtocol)
  return client
}

async function send(command, chaos, use) {
  const client = connect(chaos)
  try {
    return await use(await client.send(command))
  } finally {
    client.destroy()
  }
}

const classes = {400: ValidationException, 401: AccessDeniedException, 429: ThrottlingException, 500: InternalServerException}

function error(err) {
  const status = err.$metadata?.httpStatusCode
  return err instanceof BedrockRuntimeServiceException && err instanceof (classes[status] ?? Array) ? {status} : null
}

function read(content, usage, pieces) {
  return {
    text: content.map(b => b.text ?? '').join(''),
    calls: content.filter(b => b.toolUse).map(b => ({id: b.toolUse.toolUseId, name: b.toolUse.name, args: b.toolUse.input})),
    pieces, input: usage.inputTokens, output: usage.outputTokens, state: content,
  }
}

// Puts the events of a stream together.
async function collect(stream) {
  const blocks = []
  let usage
  let pieces = 0
  for await (const e of stream) {
    if (e.contentBlockStart) blocks[e.contentBlockStart.contentBlockIndex] = {toolUse: {...e.contentBlockStart.start.toolUse, input: ''}}
    if (e.contentBlockDelta) {
      const {contentBlockIndex: i, delta} = e.contentBlockDelta
      pieces++
      if (delta.text !== undefined) blocks[i] = {text: (blocks[i]?.text ?? '') + delta.text}
      if (delta.toolUse) blocks[i].toolUse.input += delta.toolUse.input
    }
    if (e.metadata) usage = e.metadata.usage
  }
  for (const b of blocks) if (b.toolUse) b.toolUse.input = JSON.parse(b.toolUse.input)
  return read(blocks, usage, pieces)
}

checks('bedrock: converse', {
  user: prompt => [{role: 'user', content: [{text: prompt}]}],
  async ask(messages, {stream, tools, schema, chaos, model: modelId = model}) {
    const input = {modelId, messages, system: [{text: 'Obey.'}]}
    if (tools) input.toolConfig = {tools: tools.map(t => ({toolSpec: {name: t.name, description: t.description, inputSchema: {json: t.schema}}}))}
    if (schema) input.outputConfig = {textFormat: {type: 'json_schema', structure: {jsonSchema: {name: 'place', schema: JSON.stringify(schema)}}}}
    if (stream) return send(new ConverseStreamCommand(input), chaos, r => collect(r.stream))
    return send(new ConverseCommand(input), chaos, r => read(r.output.message.content, r.usage, 1))
  },
  answer: (messages, reply, results) => [...messages, {role: 'assistant', content: reply.state},
    {role: 'user', content: results.map((text, i) => ({toolResult: {toolUseId: reply.calls[i].id, content: [{text}], status: 'success'}}))}],
  error,
  unknownModel: 400,
})

const encode = v => new TextEncoder().encode(JSON.stringify(v))
const decode = bytes => JSON.parse(new TextDecoder().decode(bytes))

// InvokeModel carries the Messages format of Anthropic's models.
function readMessage(m, pieces) {
  return {
    text: m.content.filter(b => b.type === 'text').map(b => b.text).join(''),
    calls: m.content.filter(b => b.type === 'tool_use').map(b => ({id: b.id, name: b.name, args: b.input})),
    pieces, input: m.usage.input_tokens, output: m.usage.output_tokens, state: m.content,
  }
}

async function collectMessage(body) {
  let m
  let pieces = 0
  const json = []
  for await (const {chunk} of body) {
    const e = decode(chunk.bytes)
    if (e.type === 'message_start') m = e.message
    if (e.type === 'content_block_start') m.content[e.index] = e.content_block
    if (e.type === 'content_block_delta') {
      pieces++
      if (e.delta.type === 'text_delta') m.content[e.index].text += e.delta.text
      if (e.delta.type === 'input_json_delta') json[e.index] = (json[e.index] ?? '') + e.delta.partial_json
    }
    if (e.type === 'content_block_stop' && json[e.index]) m.content[e.index].input = JSON.parse(json[e.index])
    if (e.type === 'message_delta') m.usage = e.usage
  }
  return readMessage(m, pieces)
}

checks('bedrock: invoke', {
  user: prompt => [{role: 'user', content: prompt}],
  async ask(messages, {stream, tools, schema, chaos, model: modelId = model}) {
    const body = {anthropic_version: 'bedrock-2023-05-31', max_tokens: 1000, system: 'Obey.', messages}
    if (tools) body.tools = tools.map(t => ({name: t.name, description: t.description, input_schema: t.schema}))
    if (schema) body.output_config = {format: {type: 'json_schema', schema}}
    const input = {modelId, contentType: 'application/json', accept: 'application/json', body: encode(body)}
    if (stream) return send(new InvokeModelWithResponseStreamCommand(input), chaos, r => collectMessage(r.body))
    return send(new InvokeModelCommand(input), chaos, r => readMessage(decode(r.body), 1))
  },
  answer: (messages, reply, results) => [...messages, {role: 'assistant', content: reply.state},
    {role: 'user', content: results.map((content, i) => ({type: 'tool_result', tool_use_id: reply.calls[i].id, content}))}],
  error,
  unknownModel: 400,
})

test('bedrock: HTTP/2 was spoken', () => assert.deepEqual([...protocols], ['h2']))
