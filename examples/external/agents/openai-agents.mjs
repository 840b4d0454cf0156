// An agent made with the OpenAI Agents SDK: it answers the question in its first argument,
// with the tools of the MCP server at MCP_URL.
import { Agent, MCPServerStreamableHttp, run } from '@openai/agents';

const server = new MCPServerStreamableHttp({ name: 'tools', url: process.env.MCP_URL });
await server.connect();
try {
  const agent = new Agent({
    name: 'Dashboard',
    model: 'gpt-5-mini', // reads OPENAI_BASE_URL and OPENAI_API_KEY
    instructions: 'You are a helpful assistant. Weeks start on Monday.',
    mcpServers: [server],
  });
  const { finalOutput } = await run(agent, process.argv[2]);
  console.log(finalOutput);
} finally {
  await server.close();
}
