"""The manifests of examples/agent are valid by the schemas of Kubernetes and of Compose."""

import pathlib
import subprocess
import sys
import unittest

import kubernetes_validate
import yaml

AGENT = pathlib.Path(__file__).parents[2] / "examples" / "agent"


def manifest(name):
    return yaml.safe_load((AGENT / name).read_text())


class Manifests(unittest.TestCase):
    def test_kubernetes_accepts_them(self):
        for name in ("kubernetes.yml", "kubernetes-env.yml", "statefulset.yml"):
            with self.subTest(name):
                kubernetes_validate.validate(manifest(name), kubernetes_validate.latest_version(), strict=True)

    def test_it_would_notice_a_wrong_name(self):
        wrong = manifest("kubernetes.yml")
        wrong["spec"]["template"]["spec"]["terminationGracePeriod"] = 60
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(wrong, kubernetes_validate.latest_version(), strict=True)

    def test_selectors_volumes_and_time_to_stop_fit(self):
        for name in ("kubernetes.yml", "kubernetes-env.yml", "statefulset.yml"):
            with self.subTest(name):
                spec = manifest(name)["spec"]
                pod = spec["template"]["spec"]
                self.assertEqual(spec["selector"]["matchLabels"], spec["template"]["metadata"]["labels"])
                volumes = [volume["name"] for volume in pod["volumes"]]
                volumes += [claim["metadata"]["name"] for claim in spec.get("volumeClaimTemplates", [])]
                mounts = [mount["name"] for mount in pod["containers"][0]["volumeMounts"]]
                self.assertEqual(sorted(mounts), sorted(volumes))
                # The agent needs 5 s after its command has ended.
                self.assertGreater(pod["terminationGracePeriodSeconds"], 5)

    def test_compose_accepts_it(self):
        check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", AGENT / "compose.yml"]
        result = subprocess.run(check, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
