/** A gRPC server on a unix socket, with message tables instead of generated code: what plugins of the node call, and fakes of plugins in tests. */
import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Server, ServerCredentials, status } from "@grpc/grpc-js";
import type { handleUnaryCall, ServerUnaryCall, ServerWritableStream, ServiceDefinition, UntypedHandleCall } from "@grpc/grpc-js";
import { MessageCodec } from "../../apimachinery/protobuf/messages.ts";
import type { MessageFacts } from "../../apimachinery/protobuf/messages.ts";

type Message = Record<string, unknown>;

export interface ServedMethod {
  readonly messages: readonly [request: string, response: string];
  /** A rejection becomes an error of code UNKNOWN with its text. */
  readonly answer?: (request: Message) => Promise<Message>;
  /** Instead of one answer: answers until they end, or the caller goes. */
  readonly stream?: (request: Message, signal: AbortSignal) => AsyncIterable<Message>;
}

/** Rejects when the socket cannot be made. What it returns stops the server; the socket goes, too. */
export async function serveGrpc(
  socketPath: string,
  service: string,
  tables: MessageFacts,
  methods: Readonly<Record<string, ServedMethod>>,
): Promise<AsyncDisposable> {
  const codec = new MessageCodec(tables);
  const definition: Record<string, ServiceDefinition[string]> = {};
  const handlers: Record<string, UntypedHandleCall> = {};
  for (const [name, method] of Object.entries(methods)) {
    const [request, response] = method.messages;
    definition[name] = {
      path: `/${service}/${name}`,
      requestStream: false,
      responseStream: method.stream !== undefined,
      requestSerialize: (value: Message) => Buffer.from(codec.encode(request, value)),
      requestDeserialize: (bytes: Buffer) => codec.decode(request, bytes),
      responseSerialize: (value: Message) => Buffer.from(codec.encode(response, value)),
      responseDeserialize: (bytes: Buffer) => codec.decode(response, bytes),
    };
    handlers[name] = method.stream === undefined ? unary(method.answer!) : streaming(method.stream);
  }
  await rm(socketPath, { force: true });
  await mkdir(dirname(socketPath), { recursive: true });
  const server = new Server();
  server.addService(definition, handlers);
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix://${socketPath}`, ServerCredentials.createInsecure(), (error) => (error === null ? resolve() : reject(error))),
  );
  return {
    async [Symbol.asyncDispose]() {
      // Streams have no end of their own.
      server.forceShutdown();
      await rm(socketPath, { force: true });
    },
  };
}

function unary(answer: NonNullable<ServedMethod["answer"]>): handleUnaryCall<Message, Message> {
  return ({ request }: ServerUnaryCall<Message, Message>, done) => {
    answer(request).then(
      (value) => done(null, value),
      (error: Error) => done({ code: status.UNKNOWN, details: error.message }),
    );
  };
}

function streaming(open: NonNullable<ServedMethod["stream"]>): UntypedHandleCall {
  return (call: ServerWritableStream<Message, Message>) => {
    const gone = new AbortController();
    call.on("cancelled", () => gone.abort());
    const send = async () => {
      for await (const message of open(call.request, gone.signal)) call.write(message);
      call.end();
    };
    send().catch((error: Error) => call.destroy(error));
  };
}
