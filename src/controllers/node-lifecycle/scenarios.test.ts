import { scenarioTests } from "../../testing/index.ts";

scenarioTests(import.meta.dirname);
