/** OpenAPI v2 and v3 documents. */
import type { ApiResponse } from "../../apimachinery/request.ts";
import type { RequestContext } from "../request-context.ts";

export async function handleOpenApi(_context: RequestContext): Promise<ApiResponse | undefined> {
  return undefined;
}
